"""
Cells: sparse counts of genes
=============================

Single-cell data are sparse: of thousands of genes, a cell shows a few hundred. scipy's sparse arrays stay sparse, and
the medoid is a cell that was really measured.
"""

# %%
# Make counts of 1,200 cells of five types: most genes are rarely seen, and each type has 40 markers.

import matplotlib.pyplot as plt
import numpy as np
from scipy.sparse import csr_array

from medoids import k_medoids, plot

rng = np.random.default_rng(0)
types, genes = 5, 2_000
base = rng.gamma(0.3, 0.15, genes)
rates = np.tile(base, (types, 1))
for kind in range(types):
    rates[kind, 40 * kind : 40 * kind + 40] += rng.gamma(2.0, 1.0, 40)
kind_of = rng.choice(types, 1_200, p=[0.35, 0.25, 0.2, 0.13, 0.07])
depth = rng.lognormal(0, 0.35, 1_200)
counts = csr_array(np.log1p(rng.poisson(rates[kind_of] * depth[:, None])).astype(np.float32))
print(f"{len(kind_of):,} cells, {genes:,} genes, {counts.nnz / counts.shape[0]:.0f} genes seen in a cell on average")

# %%
# The cosine distance does not depend on how deeply a cell was sequenced.

found = k_medoids(counts, 5, metric="cosine", random_state=0)
agree = sum(np.bincount(kind_of[found.labels == j]).max() for j in range(5)) / len(kind_of)
print(f"{agree:.1%} of the cells are of the most common type in their cluster")

# %%
# The cells on a plane, and the markers of the medoids: each medoid is a cell of another type.

figure, (left, right) = plt.subplots(1, 2, figsize=(10.5, 4.4), layout="constrained", width_ratios=[1, 1.1])
plot.map(found, counts, ax=left)
right.imshow(counts[found.medoid_indices].toarray()[:, :220], aspect="auto", cmap="viridis", interpolation="nearest")
right.set(xlabel="gene (the first 200 are markers)", title="Expression of the five medoid cells, log(1 + count)")
right.set_yticks(range(5), [f"medoid {j}" for j in range(5)])
plt.show()
