"""Showing a clustering: one self-contained HTML file, and the same figures in matplotlib (``medoids.plot``).

May import ``quality``, ``result``, ``storage``, ``distances`` and ``engine``. It reads results and computes a few more
distances, but runs no algorithm.

::

    writing.py        `report`: from a clustering and its data, images, rows of a table, texts or series, to a file
    page.py           the page of a clustering
    choosing.py       the page of a path over the number of clusters
    document.py       the HTML that both pages share; page.css and page.js
    things.py         how images, texts and series are shown
    tables.py         how rows of a table are shown
    layout.py         where each point lies on a plane
    charts.py         figures as SVG, and axes of line charts
    notebook.py       what a notebook shows of a clustering
    palette.py        colours and shapes for all eyes and both colour schemes
    formatting.py     numbers and texts
"""

from medoids.reporting.writing import report

__all__ = ["report"]
