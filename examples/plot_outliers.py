"""
Outliers: medoids beside the means of k-means
=============================================

k-means minimises squared distances, so that a few far points move its centres or take one for themselves. k-medoids
minimises distances: far points count, but not squared.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs

from medoids import KMedoids

X, _ = make_blobs(300, centers=[(-4, 0), (0, 3.5), (4, 0)], cluster_std=0.9, random_state=1)
outliers = np.random.default_rng(0).normal((28, -16), 1.0, (6, 2))
X = np.vstack([X, outliers])

means = KMeans(3, n_init=10, random_state=0).fit(X)
medoids = KMedoids(3, random_state=0).fit(X)

# %%
# Six outliers of 306 points: k-means spends a centre on them and merges two of the three groups. The medoids stay in
# the groups.

figure, axes = plt.subplots(1, 2, figsize=(10, 4.2), layout="constrained", sharex=True, sharey=True)
for ax, model, title in zip(axes, (means, medoids), ("KMeans", "KMedoids"), strict=True):
    for j in range(3):
        ax.scatter(*X[model.labels_ == j].T, s=14, alpha=0.6, color=f"C{j}", linewidths=0)
    ax.scatter(*model.cluster_centers_.T, s=210, marker="*", color=["C0", "C1", "C2"], edgecolor="black", zorder=3)
    ax.set(title=title, aspect="equal", xticks=[], yticks=[])
axes[0].annotate("a centre for six points", means.cluster_centers_[np.argmax(means.cluster_centers_[:, 0])],
                 xytext=(-30, 38), textcoords="offset points", ha="right", arrowprops={"arrowstyle": "->"})  # fmt: skip
plt.show()
