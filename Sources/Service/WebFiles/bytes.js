// Reads numbers and texts out of bytes, as protocol buffers and PMTiles write them.

const texts = new TextDecoder();

export class Bytes {
  /** @param bytes a `Uint8Array`, read from `at` to `end`. */
  constructor(bytes, at = 0, end = bytes.length) {
    Object.assign(this, { bytes, at, end, view: new DataView(bytes.buffer, bytes.byteOffset, bytes.length) });
  }

  get isAtEnd() {
    return this.at >= this.end;
  }

  /** A number of seven bits a byte. What is beyond 2^53 loses digits. */
  varint() {
    let [value, scale] = [0, 1];
    for (let count = 0; count < 10; count += 1) {
      const byte = this.bytes[this.#take(1)];
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) return value;
      scale *= 128;
    }
    throw new Error("a number has more than ten bytes");
  }

  /** A number whose last bit is its sign. */
  signed() {
    const value = this.varint();
    return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
  }

  /** A part with its length before it. */
  part() {
    const length = this.varint();
    const at = this.#take(length);
    return new Bytes(this.bytes, at, at + length);
  }

  text() {
    const { at, end } = this.part();
    return texts.decode(this.bytes.subarray(at, end));
  }

  float() {
    return this.view.getFloat32(this.#take(4), true);
  }

  double() {
    return this.view.getFloat64(this.#take(8), true);
  }

  /** Whole numbers of eight bytes, up to 2^53. */
  long() {
    return Number(this.view.getBigUint64(this.#take(8), true));
  }

  byte() {
    return this.bytes[this.#take(1)];
  }

  /**
   * Calls `fields[number]` with these bytes for each field of a message, and skips others.
   */
  message(fields) {
    while (!this.isAtEnd) {
      const tag = this.varint();
      const read = fields[Math.floor(tag / 8)];
      if (read) read(this);
      else this.#skip(tag % 8);
    }
  }

  #skip(wire) {
    if (wire === 0) this.varint();
    else if (wire === 1) this.#take(8);
    else if (wire === 2) this.part();
    else if (wire === 5) this.#take(4);
    else throw new Error(`there is no type ${wire} of fields`);
  }

  /** Where the next bytes begin, of which there have to be so many. */
  #take(length) {
    const { at } = this;
    if (at + length > this.end) throw new Error("the bytes end too early");
    this.at += length;
    return at;
  }
}

/** What gzip has packed; other bytes as they are. */
export async function unpacked(bytes) {
  if (bytes[0] !== 0x1f || bytes[1] !== 0x8b) return bytes;
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}
