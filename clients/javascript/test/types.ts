// Compiled, not run: what `tsc --strict` has to accept, and, where it says so, to refuse.
import {
  Bucket, Disconnected, GeoPoint, NotFound, along, avg, connect, count, descending, eq, group, near, objectAt, or, point,
  range, within,
} from "geobucket";

interface Shop {
  name: string;
  open: boolean;
  location: GeoPoint;
  address?: { city: string };
}

export async function use(): Promise<void> {
  const db = await connect(["geobucket://a:4362", "geobucket://b"], { token: async () => "secret", bigint: true });
  const shops: Bucket<Shop> = db.bucket<Shop>("shops");
  await shops.put("kiosk", { name: "Kiosk", open: true, location: point(35.6, 139.7) }, { ifAbsent: true });
  await shops.patch("kiosk", { address: null, open: false });
  // @ts-expect-error the object is only there when it was asked for
  (await shops.patch("kiosk", { open: true })).object;
  const merged = await shops.patch("kiosk", { open: true }, { returnObject: true });
  const again: string = merged.object.name;
  // @ts-expect-error a name is a string
  await shops.put("kiosk", { name: 7, open: true, location: point(0, 0) });
  // @ts-expect-error ids are strings
  await shops.get(7);

  const query = shops.find(near("location", [35.6, 139.7], 2000, "d"), or(eq("open", true), range("rating", { from: 3 })));
  for await (const shop of query.nearest().limit(20).fields("name")) {
    const distance: number | undefined = shop._calculated?.d;
    console.log(shop._id, shop.name.length, distance, again);
    // @ts-expect-error there is no such field
    console.log(shop.nmae);
  }
  const { n, kinds, mean } = await query.aggregate({ n: count(), kinds: group("kind", 10), mean: avg("rating") });
  const sum: number = n + kinds.other + (mean ?? 0);
  const page = await query.orderBy("name", descending("rating")).page({ signal: new AbortController().signal });
  const key: string | undefined = page.nextKey;
  console.log(sum, key, within("location", [[0, 0], [1, 0], [1, 1], [0, 0]]), along("location", [[0, 0], [1, 1]], 50));

  const watch = shops.find(near("location", objectAt("riders", "c7", "location"), 500)).watch({ leaveRadius: 600 });
  for await (const { objects, events, isConnected } of watch) {
    const shop = objects.get("kiosk");
    for (const event of events) {
      if (event.event === "leave") console.log(event.id, event.reason);
      else console.log(event.object.name, event.index);
    }
    if (!isConnected || shop?.open) break;
  }
  for await (const { pairs } of query.watchPairs(db.bucket("orders").find(), { field: "at", radius: 200 })) {
    for (const { ids, distance } of pairs.values()) console.log(ids[0], ids[1], distance);
  }
  const progress = { onProgress: ({ written }: { written: number }) => console.log(written) };
  await shops.putMany([{ _id: "a1", name: "A", open: true, location: point(1, 2) }], progress);
  try {
    await shops.get("none");
  } catch (error) {
    if (error instanceof NotFound) console.log(error.code, error.path);
    else if (error instanceof Disconnected) console.log(error.message);
  }
  db.close();
}
