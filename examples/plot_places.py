"""
Places on a map: where to put eight depots
==========================================

Which eight of the world's large cities should have a depot, so that people are, on average, closest to one? The
haversine distance is that on the sphere, and the number of inhabitants is the weight of a city. Depots are cities,
not points in the sea.
"""

# %%
# Latitude, longitude and millions of inhabitants (rounded) of some large cities.

import matplotlib.pyplot as plt
import numpy as np

from medoids import KMedoids

cities = """Tokyo 36 140 37|Delhi 29 77 33|Shanghai 31 121 29|Dhaka 24 90 23|Sao Paulo -24 -47 23|Cairo 30 31 22
Mexico City 19 -99 22|Beijing 40 116 22|Mumbai 19 73 22|Osaka 35 135 19|Chongqing 30 107 17|Karachi 25 67 17
Kinshasa -4 15 17|Lagos 6 3 16|Istanbul 41 29 16|Buenos Aires -35 -58 16|Kolkata 23 88 16|Manila 15 121 15
Guangzhou 23 113 14|Tianjin 39 117 14|Lahore 32 74 14|Bangalore 13 78 14|Rio de Janeiro -23 -43 14|Shenzhen 23 114 13
Moscow 56 38 13|Chennai 13 80 12|Bogota 5 -74 11|Jakarta -6 107 11|Paris 49 2 11|Lima -12 -77 11|Bangkok 14 101 11
Hyderabad 17 78 11|Seoul 38 127 10|Nagoya 35 137 9|London 52 0 10|Tehran 36 51 10|Chicago 42 -88 9|Ho Chi Minh 11 107 9
New York 41 -74 19|Los Angeles 34 -118 12|Luanda -9 13 10|Wuhan 31 114 9|Ahmedabad 23 73 9|Kuala Lumpur 3 102 9
Hong Kong 22 114 8|Riyadh 25 47 8|Baghdad 33 44 8|Santiago -33 -71 7|Madrid 40 -4 7|Toronto 44 -79 6|Singapore 1 104 6
Johannesburg -26 28 6|Dar es Salaam -7 39 8|Khartoum 16 33 6|Nairobi -1 37 5|Sydney -34 151 5|Melbourne -38 145 5
Saint Petersburg 60 30 6|Berlin 53 13 4|Rome 42 12 4|Casablanca 34 -8 4|Accra 6 0 3|Addis Ababa 9 39 5|Miami 26 -80 6
Houston 30 -95 6|Vancouver 49 -123 3|San Francisco 38 -122 4|Caracas 10 -67 3|Auckland -37 175 2|Kyiv 50 31 3"""
entries = [entry.rsplit(" ", 3) for line in cities.splitlines() for entry in line.split("|")]
names = [entry[0] for entry in entries]
places = np.array([entry[1:3] for entry in entries], dtype=float)
people = np.array([entry[3] for entry in entries], dtype=float)

# %%
# With the radius of the Earth in kilometres, so are the distances.

earth = {"degrees": True, "radius": 6371.0088}
model = KMedoids(8, metric="haversine", metric_params=earth, n_restarts=20, random_state=0)
model.fit(places, sample_weight=people)
print("depots:", ", ".join(names[i] for i in model.medoid_indices_))
print(f"a person is on average {model.loss_:,.0f} km from the nearest depot")

# %%
figure, ax = plt.subplots(figsize=(10, 4.8), layout="constrained")
for j, depot in enumerate(model.medoid_indices_):
    members = np.flatnonzero(model.labels_ == j)
    for i in members:
        ax.plot(*places[[depot, i], ::-1].T, color=f"C{j}", alpha=0.5, linewidth=1)
    ax.scatter(places[members, 1], places[members, 0], s=8 * people[members], color=f"C{j}", alpha=0.6, linewidths=0)
    ax.annotate(
        names[depot],
        places[depot, ::-1],
        xytext=(0, 12),
        textcoords="offset points",
        ha="center",
        weight="bold",
        bbox={"boxstyle": "round", "facecolor": "white", "edgecolor": f"C{j}", "pad": 0.25},
    )
ax.set(xlabel="longitude", ylabel="latitude", xlim=(-135, 185), ylim=(-48, 68), aspect=1.15)
ax.set_title(f"Eight depots; the mean distance of a person is {model.loss_:,.0f} km")
ax.grid(alpha=0.3)
plt.show()
