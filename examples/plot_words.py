"""
Words: names by edit distance
=============================

No vectors are needed: the edit distance between two strings is enough. Here, the names of functions in NumPy, scipy
and scikit-learn are grouped by how they are spelled.
"""

# %%
# ``metric="levenshtein"`` counts insertions, deletions and substitutions; its normalised form divides by the longer
# length, so that short and long names are treated alike. It needs the extra ``strings``.

import textwrap

import matplotlib.pyplot as plt
import numpy as np
import scipy.special
import scipy.stats
import sklearn.metrics

from medoids import k_medoids

modules = (np, np.linalg, scipy.special, scipy.stats, sklearn.metrics)
words = sorted(
    {name for module in modules for name in dir(module) if name.islower() and len(name) > 3 and name[0] != "_"}
)
found = k_medoids(words, 12, metric="normalized_levenshtein", random_state=0)
print(f"{len(words)} words, mean distance to the medoid {found.loss:.2f}")

# %%
# The medoid of each cluster in large letters, the nearest members behind it.

sizes = np.bincount(found.labels)
figure, ax = plt.subplots(figsize=(9, 4.6), layout="constrained")
for line, j in enumerate(np.argsort(-sizes)):
    members = np.flatnonzero(found.labels == j)
    members = members[np.argsort(found.distances[members], kind="stable")]
    others = [words[i] for i in members if i != found.medoid_indices[j]][:6]
    ax.text(0.0, -line, words[found.medoid_indices[j]], fontsize=13, weight="bold", color=f"C{line % 10}", va="center")
    ax.text(
        0.38,
        -line,
        textwrap.shorten(",  ".join(others), 75, placeholder=" ..."),
        fontsize=9.5,
        va="center",
        clip_on=True,
    )
    ax.text(1.62, -line, str(sizes[j]), fontsize=9.5, va="center", ha="right")
ax.set(
    xlim=(0, 1.65), ylim=(-len(sizes) + 0.4, 0.8), title="Twelve medoids of the names, their nearest members, and sizes"
)
ax.axis("off")
plt.show()
