"""
Typical days of an energy series
================================

Models of energy systems cannot compute every hour of a year, so they compute a few typical days and give each the
weight of the days that it stands for. Medoids are real days, with peaks that a mean of days would flatten.
"""

# %%
# A year of hourly demand and solar supply, made here: seasons, weekends, weather.

import matplotlib.pyplot as plt
import numpy as np

from medoids import KMedoids

rng = np.random.default_rng(0)
day, hour = np.meshgrid(np.arange(365), np.arange(24), indexing="ij")
season = np.cos(2 * np.pi * (day - 15) / 365)  # 1 in winter
weekend = np.where(day % 7 >= 5, 0.82, 1.0)
demand = (48 + 9 * season + 12 * np.exp(-(((hour - 19) / 3) ** 2)) + 8 * np.exp(-(((hour - 9) / 2.5) ** 2))) * weekend
demand += rng.normal(0, 1.2, demand.shape) + rng.normal(0, 2, (365, 1))
clouds = rng.beta(1.6, 1.1, (365, 1))
length = 6.0 - 2.2 * season
sun = np.clip(np.cos(np.pi * (hour - 12.5) / (2 * length)), 0, None) * (np.abs(hour - 12.5) < length)
solar = 40 * clouds * (0.72 - 0.28 * season) * sun

# %%
# A day is a row of 48 numbers. Six medoids stand for 365 days; their weights are the sizes of the clusters.

days = np.hstack([demand, solar])
model = KMedoids(6, random_state=0).fit(days)
weights = np.bincount(model.labels_)
typical = model.cluster_centers_
for name, part in (("demand", slice(0, 24)), ("solar", slice(24, 48))):
    real, short = days[:, part].sum(), weights @ typical[:, part].sum(axis=1)
    print(f"{name}: {real:,.0f} in the year, {short:,.0f} from the typical days ({short / real - 1:+.1%})")

# %%
figure, axes = plt.subplots(2, 3, figsize=(10, 5), layout="constrained", sharex=True, sharey=True)
for j, ax in zip(np.argsort(-weights), axes.flat, strict=True):
    members = model.labels_ == j
    ax.plot(demand[members].T, color="#0072b2", alpha=0.06)
    ax.plot(solar[members].T, color="#d55e00", alpha=0.06)
    ax.plot(typical[j, :24], color="#0072b2", linewidth=2.4, label="demand")
    ax.plot(typical[j, 24:], color="#d55e00", linewidth=2.4, label="solar")
    date = np.datetime64("2025-01-01") + model.medoid_indices_[j]
    ax.set_title(f"{date.item():%d %B}: {weights[j]} days", fontsize="medium")
    ax.set(xticks=[0, 6, 12, 18, 24], ylim=(-3, 95))
axes[0, 0].legend(loc="upper left", fontsize="small")
figure.supxlabel("hour", fontsize="medium")
figure.supylabel("GW", fontsize="medium")
figure.suptitle("Six days for a year")
plt.show()
