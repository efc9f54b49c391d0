"""
DNA: families of sequences
==========================

Sequences that descend from a few ancestors by substitutions and lost letters. The medoid of each cluster is the
sequence closest to all others of its family, a good guess at the ancestor.
"""

# %%
# Make the data
# -------------
# Four random ancestors of 60 letters. A descendant has one letter in eight replaced, and may have lost a few.

import matplotlib.pyplot as plt
import numpy as np

from medoids import KMedoids

rng = np.random.default_rng(0)
ancestors = ["".join(rng.choice(list("ACGT"), 60)) for _ in range(4)]


def descendant(ancestor):
    letters = [rng.choice(list("ACGT")) if rng.random() < 0.125 else letter for letter in ancestor]
    for _ in range(rng.poisson(1.5)):
        del letters[rng.integers(len(letters))]
    return "".join(letters)


family = rng.integers(4, size=240)
sequences = [descendant(ancestors[f]) for f in family]

# %%
# Cluster
# -------
# The edit distance copes with lost letters, which shift everything behind them; the Hamming distance would not.

model = KMedoids(4, metric="levenshtein", random_state=0).fit(sequences)
families = [np.bincount(family[model.labels_ == j], minlength=4) for j in range(4)]
print(np.array(families))

# %%
# Each row is a sequence, each colour a letter; clusters lie below each other, with their medoids as thick lines.

codes = {letter: number for number, letter in enumerate("ACGT")}
order = np.lexsort([model.distances_, model.labels_])
picture = np.full((len(sequences), 60), np.nan)
for line, i in enumerate(order):
    picture[line, : len(sequences[i])] = [codes[letter] for letter in sequences[i]]
figure, (left, right) = plt.subplots(1, 2, figsize=(9.5, 5), layout="constrained", width_ratios=[3, 1], sharey=True)
colours = plt.matplotlib.colors.ListedColormap(["#0072b2", "#e8cd3c", "#00855f", "#d55e00"])
drawn = left.imshow(picture, aspect="auto", cmap=colours, interpolation="nearest")
starts = np.searchsorted(model.labels_[order], range(5))
for j, start in enumerate(starts[:-1]):
    left.axhline(start - 0.5, color="black", linewidth=1.5)
    left.text(-1.5, (start + starts[j + 1]) / 2, f"cluster {j}", ha="right", va="center", rotation=90)
left.set(xlabel="position", title="240 sequences, sorted by cluster", yticks=[])
bar = figure.colorbar(drawn, ax=left, ticks=np.arange(4) * 0.75 + 0.375, location="left", shrink=0.4)
bar.ax.set_yticklabels("ACGT")
right.barh(np.arange(240), model.distances_[order], height=1, color="#6b6b6b")
right.set(xlabel="edits from the medoid")
plt.show()
