"""The experiments of the paper, beside its figures and the authors' logs: ``medoids reproduce``.

One file an idea. `run` is the settings of a fit, `settings` which fits each table and figure needs, `cost` what they
take; `fits` and `peers` make one, `rows` keeps what was found, `runner` makes those that are missing. From the rows,
with `paper` (what it prints, what its authors logged), `losses`, `speeds` and `contests` write the tables and `charts`
draws, in the words of `results`; `page` puts them together. A face: may import everything but ``cli``.
"""
