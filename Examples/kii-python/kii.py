#!/usr/bin/env python3
"""A client of Kii's REST interface, standard library only: kii.py URL APP [KEY] [TOKEN]."""
import http.client
import json
import sys
import urllib.parse
import uuid


class KiiError(Exception):
    """What the service refused: .status, .code such as OBJECT_VERSION_IS_STALE, .path."""

    def __init__(self, status, body):
        super().__init__(f"{body['errorCode']}: {body['message']}")
        self.status, self.code, self.path = status, body["errorCode"], body.get("path")


class Kii:
    """An application at an address. A token is what a user of Kii's logged in with."""

    def __init__(self, url, app, key=None, token=None):
        self.address, self.app, self.root = urllib.parse.urlsplit(url), app, f"/api/apps/{app}"
        self.headers = {"X-Kii-AppID": app, "X-Kii-SDK": "sn=py;sv=1"}
        if key:
            self.headers["X-Kii-AppKey"] = key
        if token:
            self.headers["Authorization"] = f"Bearer {token}"

    def call(self, method, path, body=None, **headers):
        """The body of an answer, and its ETag."""
        secure = self.address.scheme == "https"
        connection = (http.client.HTTPSConnection if secure else http.client.HTTPConnection)(self.address.netloc)
        fields = self.headers | {name.replace("_", "-"): value for name, value in headers.items()}
        if body is not None:
            fields.setdefault("Content-Type", "application/json")
        try:
            connection.request(method, self.root + path, None if body is None else json.dumps(body), fields)
            answer = connection.getresponse()
            text = answer.read()
        finally:
            connection.close()
        content = json.loads(text) if text else None
        if content is not None and "errorCode" in content:
            raise KiiError(answer.status, content)
        return content, answer.getheader("ETag")

    def bucket(self, name, scope=""):
        """A bucket of the application, or of a scope such as users/me."""
        return Bucket(self, f"{'/' + scope if scope else ''}/buckets/{name}")

    def user(self):
        return self.call("GET", "/users/me")[0]["userID"]


class Bucket:
    def __init__(self, kii, path):
        self.kii, self.path = kii, path

    def create(self, fields, kind=None):
        """A new object; `kind` is the {type} of its data type."""
        kind = f"application/vnd.{self.kii.app}.{kind}+json" if kind else "application/json"
        made, version = self.kii.call("POST", f"{self.path}/objects", fields, Content_Type=kind)
        return Object(self, made["objectID"], fields, version)

    def object(self, id):
        return Object(self, id, {}, None)

    def query(self, clause, order=None, descending=False, limit=None):
        """All objects that match, page by page."""
        query = {"clause": clause, "descending": descending}
        if order:
            query["orderBy"] = order
        request = {"bucketQuery": query}
        if limit:
            request["bestEffortLimit"] = limit
        while True:
            page, _ = self.kii.call(
                "POST", f"{self.path}/query", request, Content_Type="application/vnd.kii.QueryRequest+json")
            yield from page["results"]
            if "nextPaginationKey" not in page:
                return
            request["paginationKey"] = page["nextPaginationKey"]

    def count(self, clause):
        counting = {"type": "COUNT", "putAggregationInto": "count_field"}
        page, _ = self.kii.call(
            "POST", f"{self.path}/query", {"bucketQuery": {"clause": clause, "aggregations": [counting]}},
            Content_Type="application/vnd.kii.QueryRequest+json")
        return page["aggregations"]["count_field"]

    def delete(self):
        self.kii.call("DELETE", self.path)


class Object:
    """An object as it was when it was last saved or read."""

    def __init__(self, bucket, id, fields, version):
        self.bucket, self.id, self.fields, self.version = bucket, id, fields, version
        self.path = f"{bucket.path}/objects/{id}"

    def refresh(self):
        self.fields, self.version = self.bucket.kii.call("GET", self.path)
        return self

    def save(self, changes, overwrite=False):
        """Merges fields into the object; without `overwrite` only if nobody else has changed it."""
        condition = {} if overwrite or not self.version else {"If_Match": self.version}
        self.fields, self.version = self.bucket.kii.call(
            "POST", self.path, changes, X_HTTP_Method_Override="PATCH", **condition)
        return self

    def replace(self, fields, only_new=False):
        condition = {"If_None_Match": "*"} if only_new else {}
        _, self.version = self.bucket.kii.call("PUT", self.path, fields, **condition)
        self.fields = fields
        return self

    def delete(self):
        self.bucket.kii.call("DELETE", self.path, **({"If_Match": self.version} if self.version else {}))


def point(latitude, longitude):
    return {"_type": "point", "lat": latitude, "lon": longitude}


def refusal(body):
    try:
        body()
    except KiiError as error:
        return f"{error.status} {error.code}"
    return "done"


def main(url, app, key=None, token=None):
    kii = Kii(url, app, key, token)
    # A bucket that nobody has, because the end deletes it.
    shops = kii.bucket(f"example-{uuid.uuid4()}")
    tower = shops.create({"name": "Tower", "open": True, "at": point(35.6586, 139.7454)}, kind="shop")
    shops.object("station").replace({"name": "Station", "open": True, "at": point(35.6812, 139.7671)}, only_new=True)
    for n in range(5):
        shops.create({"name": f"Kiosk {n}", "open": False, "at": point(35.7 + n / 100, 139.7)})

    stale = Object(shops, tower.id, {}, tower.version)
    print("saved", tower.save({"seats": 20, "closed": None}).version, tower.fields["seats"], tower.fields["closed"])
    print("an older version:", refusal(lambda: stale.save({"seats": 1})))
    print("an id that exists:", refusal(lambda: shops.object("station").replace({}, only_new=True)))

    near = {"type": "geodistance", "field": "at", "center": point(35.66, 139.75), "radius": 10000, "putDistanceInto": "d"}
    for shop in shops.query(near, order="_calculated.d", limit=2):
        print(shop["name"], round(shop["_calculated"]["d"]), shop["_version"])
    print("open:", shops.count({"type": "eq", "field": "open", "value": True}))
    print("a point off the earth:", refusal(lambda: shops.create({"at": point(91, 0)})))

    shops.object("station").delete()
    print("after a delete:", refusal(lambda: shops.object("station").refresh()))
    if token:
        notes = kii.bucket(f"example-{uuid.uuid4()}", scope="users/me")
        note = notes.create({"text": "mine"}).refresh()
        print(kii.user(), "owns", note.fields["text"], note.fields["_owner"])
        notes.delete()
    shops.delete()
    print("left:", shops.count({"type": "all"}))


if __name__ == "__main__":
    if not 3 <= len(sys.argv) <= 5:
        sys.exit("usage: kii.py URL APP [KEY] [TOKEN], such as kii.py http://127.0.0.1:4364 shop")
    main(*sys.argv[1:])
