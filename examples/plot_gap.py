"""
The gap to the optimum
======================

PAM ends where no single swap improves the result. That can be above the best possible loss, and `certify
<medoids.certify>` says by how much at most: it proves a lower bound that no k medoids can beat.
"""

# %%
# Three ways to start, and restarts after the end, on scikit-learn's wines.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine
from sklearn.preprocessing import scale

from medoids import certify, k_medoids

X = scale(load_wine().data)
k = 12
fits = {
    "alternating, as k-means does": k_medoids(X, k, algorithm="alternate", init="random", random_state=0),
    "FasterPAM, random start": k_medoids(X, k, algorithm="fasterpam", init="random", random_state=0),
    "PAM": k_medoids(X, k),
    "PAM with 50 restarts": k_medoids(X, k, n_restarts=50, random_state=0),
}
certificates = {name: certify(found, X) for name, found in fits.items()}
for name, certificate in certificates.items():
    print(f"{name}: {certificate}")

# %%
# The bound is the same for all: it depends on the data and on k. Below it there is nothing.

bound = max(certificate.lower_bound for certificate in certificates.values())
losses = np.array([found.loss for found in fits.values()])
gaps = losses / bound - 1
figure, ax = plt.subplots(figsize=(9, 3.4), layout="constrained")
at = np.arange(len(fits))
ax.barh(at, 100 * gaps, color=["#bdbdbd", "#3793cf", "#0072b2", "#00855f"])
for y, gap, loss in zip(at, gaps, losses, strict=True):
    ax.text(100 * gap + 0.05, y, f"{gap:.2%}   (mean distance {loss:.4f})", va="center")
ax.axvline(0, color="black", linewidth=2)
ax.text(0.05, -0.6, f"no result can be here: lower bound {bound:.4f}", fontsize="small", va="bottom")
ax.set_yticks(at, fits)
ax.invert_yaxis()
ax.set(xlabel="at most this far above the optimum (%)", xlim=(0, max(100 * gaps.max() * 1.6, 1)), ylim=(3.6, -1))
ax.set_title(f"Wine, 178 rows, k = {k}")
plt.show()
