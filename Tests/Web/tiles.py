"""Map tiles for tests: images, vector tiles, archives of them, and a server of tiles by their addresses."""
import contextlib, gzip, http.server, json, struct, threading, zlib


def png(red, green, blue, side=256):
    """An image of one colour."""
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    rows = (b"\0" + bytes((red, green, blue)) * side) * side
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


# Vector tiles: https://github.com/mapbox/vector-tile-spec

def varint(value):
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes(out + bytes([value]))


def field(number, data):
    return varint(number << 3 | 2) + varint(len(data)) + data


def zigzag(value):
    return varint(value * 2 if value >= 0 else -value * 2 - 1)


def geometry(kind, parts):
    out, at = b"", (0, 0)
    for part in parts:
        for index, point in enumerate(part):
            if index == 0 or (index == 1 and kind > 1):
                out += varint((1 if index == 0 else 2) | (1 if index == 0 else len(part) - 1) << 3)
            out += zigzag(point[0] - at[0]) + zigzag(point[1] - at[1])
            at = point
        if kind == 3:
            out += varint(7 | 1 << 3)
    return out


def layer(name, features, extent=4096):
    """A layer of (kind, parts, properties): points 1, lines 2, polygons 3."""
    keys, values, out = [], [], b""
    for kind, parts, properties in features:
        tags = b""
        for key, value in properties.items():
            for known, item in ((keys, key), (values, value)):
                if item not in known:
                    known.append(item)
                tags += varint(known.index(item))
        out += field(2, field(2, tags) + varint(3 << 3) + varint(kind) + field(4, geometry(kind, parts)))
    out += b"".join(field(3, key.encode()) for key in keys)
    out += b"".join(field(4, field(1, value.encode()) if isinstance(value, str) else varint(4 << 3) + varint(value)) for value in values)
    return field(3, varint(15 << 3) + varint(2) + field(1, name.encode()) + out + varint(5 << 3) + varint(extent))


# Archives: https://github.com/protomaps/PMTiles, version 3

def tile_id(z, x, y):
    number = (4 ** z - 1) // 3
    for bit in reversed(range(z)):
        size = 1 << bit
        right, lower = int(x & size > 0), int(y & size > 0)
        number += size * size * (3 * right ^ lower)
        if lower == 0:
            if right:
                x, y = size - 1 - x, size - 1 - y
            x, y = y, x
        x, y = x & size - 1, y & size - 1
    return number


def directory(entries):
    """Of (id, run, offset, length), packed."""
    ids = [entry[0] for entry in entries]
    out = varint(len(entries)) + b"".join(varint(b - a) for a, b in zip([0, *ids], ids))
    out += b"".join(varint(entry[1]) for entry in entries) + b"".join(varint(entry[3]) for entry in entries)
    return gzip.compress(out + b"".join(varint(entry[2] + 1) for entry in entries), mtime=0)


def archive(tiles, kind, metadata, leaf=None):
    """Of tiles by (z, x, y). `kind` is 1 for vector tiles, 2 for PNG. With `leaf`, directories have so many entries."""
    data, entries = b"", []
    for number, content in sorted((tile_id(*at), content) for at, content in tiles.items()):
        content = gzip.compress(content, mtime=0) if kind == 1 else content
        entries.append((number, 1, len(data), len(content)))
        data += content
    leaves, root = b"", entries
    if leaf:
        root = []
        for start in range(0, len(entries), leaf):
            part = directory(entries[start:start + leaf])
            root.append((entries[start][0], 0, len(leaves), len(part)))
            leaves += part
    root, about = directory(root), gzip.compress(json.dumps(metadata).encode(), mtime=0)
    offsets = [127, 127 + len(root), 127 + len(root) + len(about), 127 + len(root) + len(about) + len(leaves)]
    lengths = [len(root), len(about), len(leaves), len(data)]
    places = b"".join(struct.pack("<QQ", *pair) for pair in zip(offsets, lengths))
    zooms = [at[0] for at in tiles]
    header = b"PMTiles\x03" + places + struct.pack("<QQQ", *[len(entries)] * 3) + bytes([1, 2, 2 if kind == 1 else 1, kind, min(zooms), max(zooms)])
    header += struct.pack("<iiiiBii", -1800000000, -850000000, 1800000000, 850000000, 0, 0, 0)
    return header + root + about + leaves + data


@contextlib.contextmanager
def server(answer):
    """The address of a server that answers with `answer(path)`: a media type and bytes, or None for 404; and its requests."""
    asked = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def log_message(self, *_):
            pass

        def do_GET(self):
            asked.append((self.path, self.headers.get("Referer")))
            found = answer(self.path)
            self.send_response(200 if found else 404)
            self.send_header("Access-Control-Allow-Origin", "*")
            if found:
                self.send_header("Content-Type", found[0])
            self.end_headers()
            self.wfile.write(found[1] if found else b"")

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as running:
        threading.Thread(target=running.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{running.server_address[1]}", asked
        running.shutdown()
