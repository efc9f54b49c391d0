"""
Images: typical handwritten digits
==================================

A medoid is a member of the data, so the centre of a cluster of images is a real image, not a blurred mean.
"""

# %%
# Cluster
# -------
# scikit-learn's digits are images of 8 x 8 pixels. Ten medoids under the euclidean distance take a moment.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from medoids import KMedoids

digits = load_digits()
model = KMedoids(n_clusters=10, random_state=0).fit(digits.data)
print(f"mean distance to the medoid: {model.loss_:.2f}, after {model.n_iter_} swaps")

# %%
# Look
# ----
# Each column shows a medoid, framed, and below it the members of its cluster at growing distance: the 25th, 50th, 75th
# and 100th percentile. The last row shows what a medoid stands for at worst.

figure, axes = plt.subplots(5, 10, figsize=(9, 4.9), layout="constrained")
for j, column in enumerate(axes.T):
    members = np.flatnonzero(model.labels_ == j)
    members = members[np.argsort(model.distances_[members])]
    shown = members[[0, *(len(members) * q // 100 - 1 for q in (25, 50, 75, 100))]]
    for ax, row in zip(column, shown, strict=True):
        ax.imshow(digits.images[row], cmap="gray_r")
        ax.set(xticks=[], yticks=[])
    for spine in column[0].spines.values():
        spine.set(color="C3", linewidth=3)
    column[0].set_title(f"{len(members)}", fontsize="medium")
for ax, label in zip(axes[:, 0], ["medoid", "25%", "median", "75%", "farthest"], strict=True):
    ax.set_ylabel(label, rotation=0, ha="right", va="center")
figure.suptitle("Ten medoids of 1,797 digits, with the sizes of their clusters")
plt.show()
