"""The experiments of the paper, next to its figures and the authors' logs: ``medoids reproduce``.

Imported only by ``medoids reproduce``; may import everything except ``cli``.

::

    settings.py   which trials each table and figure needs, at each scale; how long a trial takes
    runner.py     runs the trials that have no row yet, with this package or with a peer
      peers.py      the other packages
      trials.py     settings of fits, their results, and the file of results
    page.py       README.md with all tables and figures
      losses.py     the claims about losses; agreement with PAM, and the peers
      speeds.py     the claims about time and distances
      paper.py      what the paper prints and what its authors logged
      charts.py     figures as SVG
      markdown.py   tables and numbers as text
"""
