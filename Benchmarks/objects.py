"""The objects of the measurements that are no workloads."""
import random

CENTERS = 2_000


def write_objects(file, count, seed):
    """NDJSON, some 100 bytes an object; four in five around centres."""
    chance = random.Random(seed)
    centers = [(chance.uniform(-55, 70), chance.uniform(-175, 175), chance.uniform(0.05, 0.5)) for _ in range(CENTERS)]
    with open(file, "w") as lines:
        for number in range(count):
            if number % 5 == 0:
                latitude, longitude = chance.uniform(-60, 75), chance.uniform(-180, 180)
            else:
                north, east, spread = chance.choice(centers)
                latitude, longitude = chance.gauss(north, spread), chance.gauss(east, spread)
            lines.write(f'{{"_id":"o{number}","kind":"k{number % 20}","n":{number},'
                        f'"at":{{"_type":"point","lat":{latitude:.6f},"lon":{longitude:.6f}}}}}\n')
