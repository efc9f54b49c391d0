"""
A mixed table with gaps: penguins of three islands
==================================================

Numbers, categories and missing values in one table. Gower's distance takes the mean over columns: the difference as a
share of the range for numbers, equal or not for everything else, and columns with a gap are left out.
"""

# %%
# The table is made up, after the penguins of the Palmer archipelago. One value in twelve is missing.

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from medoids import KMedoids

rng = np.random.default_rng(0)
kinds = {
    # bill length, bill depth, body mass, and on which islands
    "Adelie": (38.8, 18.3, 3700, ["Biscoe", "Dream", "Torgersen"]),
    "Chinstrap": (48.8, 18.4, 3730, ["Dream"]),
    "Gentoo": (47.5, 15.0, 5080, ["Biscoe"]),
}
species = rng.choice(list(kinds), 300, p=[0.44, 0.2, 0.36])
table = pd.DataFrame(
    {
        "bill length": [rng.normal(kinds[s][0], 2.6) for s in species],
        "bill depth": [rng.normal(kinds[s][1], 1.1) for s in species],
        "body mass": [rng.normal(kinds[s][2], 420) for s in species],
        "island": [rng.choice(kinds[s][3]) for s in species],
        "sex": rng.choice(["female", "male"], 300),
    }
)
table = table.mask(rng.random(table.shape) < 1 / 12)
print(table.head())

# %%
# The sex of a penguin says nothing of its species, and its island little, so they get smaller weights. Medoids are
# rows without gaps.

model = KMedoids(3, metric="gower", metric_params={"weights": {"sex": 0.2, "island": 0.4}}, random_state=0).fit(table)
print(model.cluster_centers_)
print(pd.crosstab(model.labels_, species))

# %%
figure, axes = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
for j, marker in enumerate("os^"):
    part, medoid = table[model.labels_ == j], model.cluster_centers_.iloc[j]
    text = f"{medoid['island']}, {medoid['body mass']:.0f} g"
    axes[0].scatter(part["bill length"], part["bill depth"], s=18, alpha=0.55, marker=marker, color=f"C{j}")
    axes[0].scatter(
        medoid["bill length"], medoid["bill depth"], s=190, marker=marker, color=f"C{j}", edgecolor="black", label=text
    )
axes[0].set(xlabel="bill length (mm)", ylabel="bill depth (mm)", title="Two of five columns; large: the medoids")
axes[0].legend(title="medoid")
counts = pd.crosstab(pd.Series(model.labels_, name="cluster"), table["island"].fillna("missing"))
counts.plot.bar(stacked=True, ax=axes[1], rot=0, color=["#0072b2", "#d55e00", "#00855f", "#bdbdbd"], ylabel="penguins")
axes[1].set_title("Islands of each cluster")
plt.show()
