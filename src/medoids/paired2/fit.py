import numpy as np
from medoids.core.assignment import TOLERANCE, lowest
from medoids.core.local_search import accept
from medoids.core.rows import RowSource
from medoids.exact.matrix import MARGIN
from medoids.paired2.local import OneShard
from medoids.paired2.search import Search
from medoids.paired2.start import medoids_of_sample, sample_size
from medoids.paired2.order import Strata

FIRST = 512


def fit_best(problem, run):
    shards = OneShard(problem, run, FIRST)
    search = Search(shards, shards.strata, TOLERANCE if problem.distance.exact else MARGIN)
    rows = RowSource(problem, run)
    assignment = rows.start()

    def find(swaps, width):
        shards.follow(assignment)
        scale = assignment.magnitude / problem.total_weight if assignment.medoids else 0.0
        search.begin(assignment.medoids, assignment.fixed, scale, swaps=swaps)
        return search.find(width)

    def decide(found, after):
        if not len(found):
            return None
        with run.phase("exact"):
            block = np.array([rows.row(i, assignment.d2) for i in found.tolist()])
        losses, magnitudes = after(block)
        slot, at = lowest(losses, magnitudes)
        return slot, int(found[at]), block[at], float(losses[slot, at]), float(magnitudes[slot, at])

    while len(assignment.medoids) < problem.k:
        with run.phase("build"):
            f = find(False, 3.5)
        _, i, row, *_ = decide(f.rows, assignment.after_additions)
        assignment.add(i, row)
        run.step("build", assignment, i, references=f.references, candidates=f.candidates)
    n = 0
    while n < problem.max_iter:
        for width in (3.5, 4.0):
            with run.phase("swap"):
                f = find(True, width)
            got = decide(f.rows, assignment.after_swaps)
            if got is not None and assignment.improves(*got[3:]):
                break
        else:
            break
        slot, i, row, *_ = got
        accept(run, assignment, slot, i, row, references=f.references, candidates=f.candidates)
        n += 1
    return assignment, n


def fit_eager(problem, run):
    from time import perf_counter
    t0=perf_counter()
    shards = OneShard(problem, run, FIRST)
    t1=perf_counter()
    search = Search(shards, shards.strata, TOLERANCE if problem.distance.exact else MARGIN)
    t2=perf_counter()
    rows = RowSource(problem, run)
    with run.phase("build"):
        s = Strata(shards.weights, shards.mass, sample_size(shards.n, problem.k), run.random)
        level = s.levels[0]
        medoids = medoids_of_sample(problem, run, shards.order[s.positions[level.columns]], level.weights)
    t3=perf_counter()
    assignment = rows.assign(medoids)
    run.step("build", assignment, references=problem.n, candidates=problem.k)
    n = 0
    t4=perf_counter()
    L0=assignment.loss/problem.total_weight

    def begin():
        shards.follow(assignment)
        search.begin(assignment.medoids, assignment.fixed, assignment.magnitude / problem.total_weight, swaps=True)

    def swap(found):
        n = 0
        while len(rows_ := search.helpful()):
            i = int(rows_[0])
            with run.phase("exact"):
                row = rows.row(i, assignment.d2)
            slot = int(np.argmin(assignment.swap_losses(row)))
            if assignment.swap_improves(slot, row):
                accept(run, assignment, slot, i, row, references=found.references, candidates=found.candidates)
                n += 1
                begin()
            else:
                search.reject(i)
        return n

    begin()
    finds = 0
    every = 1 if shards.shard.store.whole else 16
    further = False
    while True:
        finds += not further
        with run.phase("swap"):
            found = search.find(3.5 if every > 1 else 4.0, eager=True, every=every, further=further)
        m = swap(found)
        if further and not m:
            further = False
            continue
        further = m > 0
        search.forget()
        n += m
        if not m:
            if every == 1:
                break
            every = 1
    if DEBUG: print("times order %.2f first %.2f start %.2f assign %.2f swaps %.2f"%(t1-t0,t2-t1,t3-t2,t4-t3,perf_counter()-t4), "finds",finds, "L0", L0)
    return assignment, n
DEBUG=True
