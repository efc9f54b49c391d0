"""
Time series: shapes that are shifted and stretched
==================================================

Dynamic time warping compares series of unequal lengths, and does not mind if one runs a little earlier or faster.
There is no simple mean under it, but a medoid always exists.
"""

# %%
# Three shapes, each at random positions, speeds and lengths.

import matplotlib.pyplot as plt
import numpy as np

from medoids import KMedoids

rng = np.random.default_rng(0)
shapes = [
    lambda t: np.exp(-(((t - 0.5) / 0.1) ** 2)),  # a peak
    lambda t: np.exp(-(((t - 0.35) / 0.07) ** 2)) + np.exp(-(((t - 0.65) / 0.07) ** 2)),  # two peaks
    lambda t: 1 / (1 + np.exp(-(t - 0.5) / 0.04)),  # a step
]
series = []
for _ in range(120):
    time = np.linspace(0, 1, rng.integers(50, 90)) ** rng.uniform(0.75, 1.35) + rng.uniform(-0.08, 0.08)
    series.append(shapes[rng.integers(3)](time) + rng.normal(0, 0.04, len(time)))

# %%
# ``window=0.25``: the warping may shift time by up to a quarter of the longer series.

model = KMedoids(3, metric="dtw", metric_params={"window": 0.25}, random_state=0).fit(series)
print(f"{model.n_evaluations_:,} distances, mean distance to the medoid {model.loss_:.2f}")

# %%
figure, axes = plt.subplots(1, 3, figsize=(10, 3.2), layout="constrained", sharex=True, sharey=True)
for j, ax in enumerate(axes):
    members = np.flatnonzero(model.labels_ == j)
    for i in members:
        ax.plot(series[i], color=f"C{j}", alpha=0.22, linewidth=1)
    ax.plot(model.cluster_centers_[j], color="black", linewidth=2.2, label="medoid")
    ax.set_title(f"cluster {j}: {len(members)} series")
    ax.set_xlabel("sample")
axes[0].legend()
plt.show()
