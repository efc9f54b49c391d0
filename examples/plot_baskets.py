"""
Sets: shopping baskets
======================

A basket is a set of products. The Jaccard distance between two of them is one minus the share of products that they
have in common. The medoid is a real basket: what a typical customer of its kind takes home.
"""

# %%
# Three kinds of customers, each with favourites, and some products that everybody buys.

import matplotlib.pyplot as plt
import numpy as np

from medoids import KMedoids

rng = np.random.default_rng(1)
kinds = {
    "breakfast": ["coffee", "rolls", "butter", "jam", "eggs", "juice"],
    "pasta": ["pasta", "tomatoes", "basil", "parmesan", "garlic", "wine"],
    "do it yourself": ["nails", "hammer", "paint", "brush", "tape", "screws"],
}
everybody = ["milk", "bread", "bag"]


def basket(kind):
    favourites = [product for product in kinds[kind] if rng.random() < 0.65]
    chance = [product for product in everybody if rng.random() < 0.35]
    other = [str(rng.choice(sum(kinds.values(), [])))] if rng.random() < 0.3 else []
    return {*favourites, *chance, *other}


baskets = [basket(kind) for kind in rng.choice(list(kinds), 300)]
model = KMedoids(3, metric="jaccard", random_state=0).fit(baskets)
for medoid in model.cluster_centers_:
    print(sorted(medoid))

# %%
# How often each product is in the baskets of each cluster. Crosses mark what the medoid holds.

products = [*sum(kinds.values(), []), *everybody]
share = np.array(
    [[np.mean([p in baskets[i] for i in np.flatnonzero(model.labels_ == j)]) for p in products] for j in range(3)]
)
figure, ax = plt.subplots(figsize=(10, 3), layout="constrained")
drawn = ax.imshow(share, cmap="Blues", vmin=0, vmax=1, aspect="auto")
for j, medoid in enumerate(model.cluster_centers_):
    at = [products.index(product) for product in medoid]
    ax.plot(at, [j] * len(at), "x", color="#d55e00", markersize=9, markeredgewidth=2.5)
sizes = np.bincount(model.labels_)
ax.set_yticks(range(3), [f"cluster {j}: {size} baskets" for j, size in enumerate(sizes)])
ax.set_xticks(range(len(products)), products, rotation=60, ha="right")
ax.set_title("Share of baskets with a product; crosses: the basket that is the medoid")
figure.colorbar(drawn, ax=ax)
plt.show()
