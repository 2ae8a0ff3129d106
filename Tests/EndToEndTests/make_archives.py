"""Writes keyed archives without Foundation: python3 make_archives.py FOLDER.

Those named plist-* are put together by hand and written by plistlib, binary and XML; with the
package bpylist2 there are bpylist-* too, written by its archiver.
"""
import plistlib
import sys
import uuid

folder = sys.argv[1]


def spelled(value):
    """References as XML spells them, which plistlib leaves to its caller."""
    if isinstance(value, plistlib.UID):
        return {"CF$UID": value.data}
    if isinstance(value, dict):
        return {name: spelled(member) for name, member in value.items()}
    return [spelled(element) for element in value] if isinstance(value, list) else value


class Archive:
    """$objects in the making."""

    def __init__(self):
        self.objects = ["$null"]
        self.classes = {}

    def add(self, value):
        self.objects.append(value)
        return plistlib.UID(len(self.objects) - 1)

    def instance(self, names, **members):
        if names not in self.classes:
            self.classes[names] = self.add({"$classname": names[0], "$classes": list(names)})
        return self.add({"$class": self.classes[names], **{k.replace("__", "."): v for k, v in members.items()}})

    def list(self, elements):
        return self.instance(("NSArray", "NSObject"), NS__objects=elements)

    def dictionary(self, pairs):
        return self.instance(("NSDictionary", "NSObject"), NS__keys=[k for k, _ in pairs], NS__objects=[v for _, v in pairs])

    def write(self, name, **top):
        body = {"$archiver": "NSKeyedArchiver", "$version": 100000, "$top": top, "$objects": self.objects}
        with open(f"{folder}/plist-{name}.bin", "wb") as file:
            plistlib.dump(body, file, fmt=plistlib.FMT_BINARY, sort_keys=False)
        with open(f"{folder}/plist-{name}.xml", "wb") as file:
            plistlib.dump(spelled(body), file, fmt=plistlib.FMT_XML, sort_keys=False)


a = Archive()
shared = a.dictionary([(a.add("city"), a.add("東京 & \"more\" <b>"))])
shops = []
for number, (latitude, longitude) in enumerate([(35.6586, 139.7454), (-33.86, 151.21)]):
    shops.append(
        a.instance(
            ("MYShop", "MYPlace", "NSObject"),
            number=100 + number,
            open=number == 0,
            rating=4.5,
            huge=2**63 + number,
            negative=-(2**40),
            name=a.add("Kiosk 🍣" if number == 0 else ""),
            missing=plistlib.UID(0),
            nothing=a.instance(("NSNull", "NSObject")),
            opened=a.instance(("NSDate", "NSObject"), NS__time=489024000.5),
            photo=a.instance(("NSMutableData", "NSData", "NSObject"), NS__data=b"\x00\xff\x10"),
            key=a.instance(("NSUUID", "NSObject"), NS__uuidbytes=uuid.UUID(int=0x123456789ABCDEF0FEDCBA9876543210).bytes),
            site=a.instance(("NSURL", "NSObject"), NS__base=plistlib.UID(0), NS__relative=a.add("https://example.org/a")),
            tags=a.instance(("NSSet", "NSObject"), NS__objects=[a.add("x"), a.add("y")]),
            address=shared,
            lat=latitude,
            lon=longitude,
        )
    )
a.write("shops", root=a.list(shops))

a = Archive()
a.write("keys", one=a.dictionary([(a.add("n"), a.add(1))]), two=a.list([a.dictionary([(a.add("n"), a.add(2))])]), count=7)

a = Archive()
a.write("odd", root=a.list([
    a.instance(("MYShop", "NSObject"), _name=a.add("Kiosk")),
    a.instance(("MYShop", "NSObject"), part=plistlib.UID(99)),
    a.add("bare"),
]))

a = Archive()
a.objects += [
    {"$classname": "MYList", "$classes": ["MYList", "NSObject"]},
    {"$class": plistlib.UID(1), "name": "all", "items": plistlib.UID(4)},
    {"$classname": "NSArray", "$classes": ["NSArray", "NSObject"]},
    {"$class": plistlib.UID(3), "NS.objects": [plistlib.UID(5), plistlib.UID(6)]},
    {"$class": plistlib.UID(1), "name": "one", "delegate": plistlib.UID(2)},
    {"$class": plistlib.UID(1), "name": "two", "delegate": plistlib.UID(2)},
]
a.write("delegates", root=plistlib.UID(2))

try:
    from bpylist2 import archiver
except ImportError:
    sys.exit(0)

document = [
    {"name": "Kiosk", "n": 3, "open": True, "closed": False, "rate": 0.25, "tags": ["a", "b"],
     "opened": archiver.timestamp(1467374400.5), "deep": {"x": {"y": [1, {"z": "ü"}]}},
     "data": archiver.NSMutableData(b"\x00\xff\x10"), "big": 2**40, "minus": -7},
    {"name": "", "n": 0, "set": {"only"}},
]
with open(f"{folder}/bpylist-shops.bin", "wb") as file:
    file.write(archiver.archive(document))
