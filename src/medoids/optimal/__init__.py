"""The best medoids, and the proof: weighted k-median problems on a matrix of distances.

    instance    the problem: distances by point, weights, k, candidates, frozen medoids, and the check that stops it
    restarts    iterated local search: descents (`descent`) from disturbed medoids, mixed with the best (`mixing`)
    dual        Lagrangian prices that bound every loss from below and fix candidates, on sorted lists (`prefixes`)
    benders     the LP of cuts on the candidates that are left, solved by HiGHS (extra ``optimal``)
    tree        branch and bound on that LP
    proof       what multipliers prove, in float64, with rounding errors subtracted: the only source of bounds
    incumbent   the best solution so far
    solve       these in order, with a time limit, a gap to stop at, progress and a state to resume from

All but `improve` and `instance_of` are functions of matrices. HiGHS is imported only where it is needed.
"""
