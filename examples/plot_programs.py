"""
Programs: solutions of an exercise as trees
===========================================

Students solve an exercise in a few ways, with many spellings. The edit distance between syntax trees groups their
programs by idea, and a teacher has to comment on the medoids only.
"""

# %%
# "Return the sum of the squares of the numbers in ``a``", solved in three ways with other names and small variations.

import ast

import matplotlib.pyplot as plt
import numpy as np

from medoids import k_medoids, plot

rng = np.random.default_rng(0)
templates = {
    "comprehension": "def f({a}):\n    return sum({x} {op} for {x} in {a})",
    "loop": "def f({a}):\n    {t} = 0\n    for {x} in {a}:\n        {t} {plus} {x} {op}\n    return {t}",
    "recursion": "def f({a}):\n    if {empty}:\n        return 0\n    return {a}[0] {op0} + f({a}[1:])",
}


def solution(kind):
    a, x, t = rng.choice(["a", "xs", "values", "numbers"]), rng.choice(["x", "i", "v"]), rng.choice(["t", "total", "s"])
    square = rng.random() < 0.6
    return templates[kind].format(
        a=a,
        x=x,
        t=t,
        op="** 2" if square else f"* {x}",
        op0="** 2" if square else f"* {a}[0]",
        plus="+=" if rng.random() < 0.7 else f"= {t} +",
        empty=rng.choice([f"not {a}", f"len({a}) == 0"]),
    )


kinds = rng.choice(list(templates), 90)
programs = [solution(kind) for kind in kinds]

# %%
# Renaming costs less than inserting or deleting, since names matter little.

trees = [ast.parse(program) for program in programs]
found = k_medoids(trees, 3, metric="tree_edit", metric_params={"rename": 0.5}, random_state=0)
for j in range(3):
    print(j, dict(zip(*np.unique(kinds[found.labels == j], return_counts=True), strict=True)))

# %%
figure, axes = plt.subplots(1, 2, figsize=(10, 4), layout="constrained", width_ratios=[1, 1])
plot.map(found, trees, ax=axes[0]).set_xlabel("close together: few edits apart")
axes[1].axis("off")
axes[1].set_title("The three medoids")
sizes = np.bincount(found.labels)
for j, medoid in enumerate(found.medoid_indices):
    text = f"# {j}: {sizes[j]} programs\n{programs[medoid]}"
    axes[1].text(0, 0.98 - 0.36 * j, text, family="monospace", fontsize=9.5, va="top", transform=axes[1].transAxes)
plt.show()
