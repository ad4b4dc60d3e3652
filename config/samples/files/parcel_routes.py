import heapq

ROADS = {
    "Depot": {"Aske": 7, "Birk": 4},
    "Aske": {"Cairn": 6, "Dell": 11},
    "Birk": {"Aske": 2, "Dell": 15},
    "Cairn": {"Dell": 3, "Elm": 9},
    "Dell": {"Elm": 4},
    "Elm": {},
}


def shortest(start):
    best = {start: 0}
    heap = [(0, start)]
    while heap:
        cost, town = heapq.heappop(heap)
        if cost > best[town]:
            continue
        for other, road in ROADS[town].items():
            if cost + road < best.get(other, 10**9):
                best[other] = cost + road
                heapq.heappush(heap, (cost + road, other))
    return best


for town, minutes in sorted(shortest("Depot").items()):
    print(f"{town}: {minutes} min")
