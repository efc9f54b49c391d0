"""Showing a clustering: one HTML file that needs nothing else, and the same figures in matplotlib (``medoids.plot``).

::

    report.py ── clustering, data ──> page.py (the HTML)  <── page.css, page.js
                   choosing.py   the page of a path: every number of clusters
                   layout.py     where each point lies on a plane
                   things.py     what a point is: an image, a row of a table, a text, a series
                   charts.py     figures as SVG
                   palette.py    colours and shapes, for all eyes and both colour schemes
                   images.py     arrays as PNG

Reads results and asks ``distances`` for a few more of them; no algorithm is run here.
"""

from medoids.reporting.report import report

__all__ = ["report"]
