"""
Your own metric, at native speed
================================

Any function of two rows is a metric. Jitted by Numba it runs without Python, in threads. Here: the distance between
times of day, on a clock where 23:50 and 0:10 are close.
"""

# %%
# The first column of a row is the hour of a bicycle ride, the second its length in kilometres.

import matplotlib.pyplot as plt
import numpy as np
from numba import njit

from medoids import KMedoids


@njit
def ride(a, b):
    hours = abs(a[0] - b[0]) % 24
    return min(hours, 24 - hours) + 0.5 * abs(a[1] - b[1])


rng = np.random.default_rng(0)
groups = [(8, 1.0, 6, 1.5, 250), (17.5, 1.3, 6, 1.5, 250), (23.8, 1.0, 3, 0.8, 150), (14, 2.2, 17, 3, 120)]
rides = np.vstack(
    [np.column_stack([rng.normal(h, sh, n) % 24, rng.normal(km, skm, n)]) for h, sh, km, skm, n in groups]
)

# %%
# ``symmetric`` says that d(a, b) = d(b, a), which halves the calls.

model = KMedoids(4, metric=ride, metric_params={"symmetric": True}, random_state=0).fit(rides)
for hour, km in model.cluster_centers_:
    print(f"{int(hour):2d}:{int(hour % 1 * 60):02d}, {km:.1f} km")

# %%
# On a clock the cluster around midnight is one cluster. Under the euclidean distance it would be two.

figure, axes = plt.subplots(1, 2, figsize=(10, 4.6), layout="constrained", subplot_kw={"projection": "polar"})
plain = KMedoids(4, random_state=0).fit(rides * [1, 0.5])
for ax, fitted, title in zip(axes, (model, plain), ("the jitted metric", "euclidean"), strict=True):
    for j, medoid in enumerate(fitted.medoid_indices_):
        angle, km = rides[fitted.labels_ == j].T
        ax.scatter(angle * np.pi / 12, km, s=12, alpha=0.55, color=f"C{j}", linewidths=0)
        ax.scatter(
            rides[medoid, 0] * np.pi / 12,
            rides[medoid, 1],
            s=230,
            marker="*",
            color=f"C{j}",
            edgecolor="black",
            zorder=3,
        )
    ax.set(theta_zero_location="N", theta_direction=-1, title=title)
    ax.set_xticks(np.arange(8) * np.pi / 4, [f"{3 * h}:00" for h in range(8)])
    ax.set_rlabel_position(112)
figure.suptitle("Rides by time of day and kilometres; stars are medoids")
plt.show()
