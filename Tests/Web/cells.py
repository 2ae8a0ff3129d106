"""The clusters of a bucket by counting all its objects one by one."""
import collections, math

SIZE = 2 ** 30


def grid(point):
    """A point's X and Y in the grid of the world."""
    lat = max(-85.0511287798066, min(85.0511287798066, point["lat"]))
    lon = -180 if point["lon"] == 180 else point["lon"]
    sine = math.sin(math.radians(lat))
    y = 0.5 - math.log((1 + sine) / (1 - sine)) / (4 * math.pi)
    return min(SIZE - 1, int((lon + 180) / 360 * SIZE)), max(0, min(SIZE - 1, int(y * SIZE)))


def clusters(objects, field, level):
    """Cells with their counts, and the ids of those that are alone in theirs."""
    cells = collections.defaultdict(list)
    for item in objects:
        x, y = (at >> 30 - level for at in grid(item[field]))
        cells[y, x].append(item["_id"])
    return [(f"{level}/{x}/{y}", len(ids), ids[0] if len(ids) == 1 else None) for (y, x), ids in sorted(cells.items())]
