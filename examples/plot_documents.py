"""
Documents: topics and their most representative texts
=====================================================

TF-IDF and the cosine distance, as for any collection of texts. A topic is shown by its medoid, a real document, which
is easier to judge than a list of words.
"""

# %%
# The documents are scikit-learn's own: what its estimators say of themselves. Their module, such as ``cluster``, is
# known, but not used.

import inspect

import matplotlib.pyplot as plt
import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.utils import all_estimators

from medoids import k_medoids

documents, names, origin = [], [], []
for name, estimator in all_estimators():
    documents.append(inspect.getdoc(estimator).partition("Examples\n---")[0])
    names.append(name)
    origin.append(estimator.__module__.split(".")[1])

vectorizer = TfidfVectorizer(stop_words="english", sublinear_tf=True, max_df=0.4, token_pattern=r"[a-z]{4,}")
vectors = vectorizer.fit_transform(documents)
print(f"{len(documents)} documents, {vectors.shape[1]} words")

# %%
# The most representative documents of a topic are its medoid and the members closest to it.

k = 8
found = k_medoids(vectors, k, metric="cosine", n_restarts=20, random_state=0)
for j in range(k):
    members = np.flatnonzero(found.labels == j)
    nearest = members[np.argsort(found.distances[members])][:4]
    print(f"topic {j}, {len(members):2d} documents:", ", ".join(names[i] for i in nearest))

# %%
# For each topic: its medoid, the words that its members have more of than others, and the modules they come from.

words = vectorizer.get_feature_names_out()
mean = np.asarray(vectors.mean(axis=0)).ravel()
shown = [module for module, _ in sorted(zip(*np.unique(origin, return_counts=True), strict=True), key=lambda m: -m[1])][
    :9
]
figure, ax = plt.subplots(figsize=(10.5, 4.6), layout="constrained")
left = np.zeros(k)
for number, module in enumerate([*shown, "other"]):
    mine = [origin[i] == module or (module == "other" and origin[i] not in shown) for i in range(len(origin))]
    counts = np.bincount(found.labels, weights=mine, minlength=k)
    ax.barh(range(k), counts, left=left, color="#bdbdbd" if module == "other" else f"C{number}", label=module)
    left += counts
for j in range(k):
    excess = np.asarray(vectors[found.labels == j].mean(axis=0)).ravel() - mean
    ax.text(left[j] + 0.6, j, ", ".join(words[np.argsort(-excess)[:5]]), va="center", fontsize=9.5)
ax.set(
    xlabel="documents",
    xlim=(0, left.max() * 1.85),
    title="Topics: their medoids, the modules of their members, and words",
)
ax.set_yticks(range(k), [names[i] for i in found.medoid_indices])
ax.invert_yaxis()
figure.legend(loc="outside right upper", fontsize="small", title="module")
plt.show()
