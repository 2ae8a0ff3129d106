"""Pictures of the map page for the README: a query, and couriers that move, in dark."""
import math, random, threading, time

from world import point, settled, view

SIZE = {"width": 1280, "height": 800}
NAMES = "Aiko Ben Chidi Dana Emil Fumi Gita Hana Ivan Jun Kei Lena Mika Noor Omar Pia Quinn Rei Sora Taro Uma Vera Wen Xena Yuki Zoe".split()
TOKYO = (35.6812, 139.7671)


def make(world, folder):
    folder.mkdir(parents=True, exist_ok=True)
    query(world, folder / "map.png")
    live(world, folder / "map-live.png")


def query(world, path):
    circle = {"type": "geodistance", "field": "location", "center": point(48.8566, 2.3522), "radius": 330000, "putDistanceInto": "distance"}
    clause = {"type": "and", "clauses": [circle, {"type": "range", "field": "runway_m", "lowerLimit": 1800}]}
    fragment = view(bucket="airports", at="48.7,3.6,6", clause=clause, object="LFPG")
    with world.page(world.site, fragment, **SIZE) as page:
        settled(page)
        page.until("!document.querySelector('#details').hidden", "the object is shown")
        page.run("document.querySelector('#clause-card').open = false")
        time.sleep(1)
        page.picture(path)


class Courier:
    def __init__(self, number, chance):
        self.key, self.name, self.chance = f"c{number}", NAMES[number % 26] + (f" {number // 26 + 1}" if number >= 26 else ""), chance
        self.lat, self.lon = TOKYO[0] + chance.gauss(0, 0.02), TOKYO[1] + chance.gauss(0, 0.03)
        self.heading, self.status = chance.random() * 2 * math.pi, chance.choice(["free", "busy"])

    def move(self):
        self.heading += self.chance.gauss(0, 0.4)
        self.lat += 0.002 * math.cos(self.heading)
        self.lon += 0.002 * math.sin(self.heading)

    def put(self, world):
        world.put("couriers", self.key, name=self.name, status=self.status, battery=self.chance.randint(20, 100), location=point(round(self.lat, 6), round(self.lon, 6)))


def live(world, path):
    chance = random.Random(4)
    couriers = [Courier(number, chance) for number in range(110)]
    for courier in couriers:
        courier.put(world)
    circle = {"type": "geodistance", "field": "location", "center": point(*TOKYO), "radius": 4000, "putDistanceInto": "distance"}
    over = threading.Event()

    def drive():
        while not over.wait(0.03):
            courier = chance.choice(couriers)
            courier.move()
            courier.put(world)

    driver = threading.Thread(target=drive)
    driver.start()
    try:
        with world.page(world.site, view(bucket="couriers", at="35.6812,139.7671,13", clause=circle, live="1"), dark=True, **SIZE) as page:
            settled(page)
            page.run("document.querySelector('#clause-card').open = false")
            time.sleep(7)
            page.picture(path)
    finally:
        over.set()
        driver.join()
