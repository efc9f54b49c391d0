"""
Choosing k: every number of clusters at once
============================================

`k_path <medoids.k_path>` fits every number of clusters in a range, from one greedy start and shared distances, and
scores them.
"""

# %%
# Nine groups on a grid, three of them close together.

import matplotlib.pyplot as plt
from sklearn.datasets import make_blobs

from medoids import k_path, plot

centres = [(6 * i, 6 * j) for i in range(3) for j in range(3)]
X, _ = make_blobs(900, centers=centres, cluster_std=1.0, random_state=0)
path = k_path(X, range(2, 16), random_state=0)
print(path.explain())

# %%
# The loss always falls with k: look for the bend. The silhouettes have a maximum.

path.plot()
plt.show()

# %%
# The suggestion, and one cluster too few: two groups share a medoid.

figure, axes = plt.subplots(1, 3, figsize=(11, 3.6), layout="constrained")
best = path.suggest()
for ax, k in zip(axes, (best - 1, best), strict=False):
    plot.map(path.clusterings[k], X, ax=ax)
    ax.set_title(f"k = {k}: mean distance {path.losses[k]:.2f}")
    ax.set_xlabel("")
plot.silhouette(path.clusterings[best], X, ax=axes[2])
axes[2].set_title(f"Silhouettes for k = {best}")
plt.show()
