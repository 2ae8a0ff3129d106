#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// Writes JSON text by appending bytes to its own buffer.
///
///     writer.raw("{")
///     writer.key("n")
///     writer.integer(3)
///     writer.raw("}")                    // {"n":3}
///
/// The caller is responsible for the grammar, the writer for escapes and the spelling of numbers.
///
/// - Complexity: an append is a comparison and a copy; the buffer doubles when it is full and is
///   kept by `removeAll`.
///
/// `@unchecked Sendable`: the buffer has only this owner, which cannot be copied.
public struct JSONWriter: ~Copyable, @unchecked Sendable {
    @usableFromInline var base: UnsafeMutablePointer<UInt8>
    @usableFromInline var capacity: Int
    @usableFromInline var used = 0

    /// Bytes written.
    public var count: Int { used }

    /// An empty writer whose buffer has room for so many bytes, at least 32.
    public init(reserving capacity: Int = 256) {
        self.capacity = max(capacity, 32)
        base = Self.allocated(nil, self.capacity)
    }

    deinit { free(base) }

    /// A copy of what has been written.
    public var bytes: [UInt8] { [UInt8](UnsafeBufferPointer(start: base, count: count)) }

    /// What has been written, for the duration of `body`.
    public borrowing func withBytes<Result, Failure: Error>(
        _ body: (UnsafeBufferPointer<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(UnsafeBufferPointer(start: base, count: count))
    }

    /// Hands over what has been written, in memory of malloc that is now the caller's to free.
    ///
    /// It is copied into memory of its own size. If the buffer were shrunk instead, malloc would keep
    /// a remainder behind each text, too small for the next one.
    public consuming func release() -> UnsafeMutableBufferPointer<UInt8> {
        let text = UnsafeMutableBufferPointer(
            start: Self.allocated(nil, max(used, 1)), count: used)
        _ = text.initialize(fromContentsOf: UnsafeMutableBufferPointer(start: base, count: used))
        free(base)
        discard self
        return text
    }

    /// Removes everything, and frees memory beyond `kept` bytes.
    public mutating func removeAll(keeping kept: Int = .max) {
        used = 0
        guard capacity > kept else { return }
        capacity = max(kept, 32)
        base = Self.allocated(base, capacity)
    }

    /// Removes everything after the first `count` bytes.
    public mutating func truncate(to count: Int) {
        precondition((0...self.count).contains(count), "\(count) of \(self.count) bytes")
        used = count
    }

    // MARK: Bytes

    /// Appends what `body` writes.
    ///
    /// - Parameter most: the bytes that there has to be room for.
    @inlinable
    @inline(__always)
    public mutating func write(atMost most: Int, _ body: (inout JSONCursor) -> Void) {
        if capacity - used < most { grow(by: most) }
        var cursor = JSONCursor(base + used)
        body(&cursor)
        used = cursor.at - base
        precondition(used <= capacity, "more was written than there was room for")
    }

    /// Appends a literal's UTF-8 as it is.
    @inlinable
    public mutating func raw(_ text: StaticString) {
        write(atMost: text.utf8CodeUnitCount) { $0.raw(text) }
    }

    /// Appends bytes as they are; they have to be UTF-8 and make JSON where they stand.
    @inlinable
    public mutating func raw(_ text: UnsafeBufferPointer<UInt8>) {
        write(atMost: text.count) { $0.raw(text) }
    }

    /// Appends bytes as they are; they have to be UTF-8 and make JSON where they stand.
    @inlinable
    public mutating func raw(_ text: [UInt8]) { text.withUnsafeBufferPointer { raw($0) } }

    /// Appends one byte as it is.
    @inlinable
    public mutating func byte(_ byte: UInt8) { write(atMost: 1) { $0.byte(byte) } }

    @inline(never)
    @usableFromInline
    mutating func grow(by more: Int) {
        capacity = max(2 * capacity, count + more)
        base = Self.allocated(base, capacity)
    }

    private static func allocated(
        _ old: UnsafeMutablePointer<UInt8>?, _ capacity: Int
    ) -> UnsafeMutablePointer<UInt8> {
        guard let memory = realloc(old, capacity) else { fatalError("out of memory") }
        return memory.assumingMemoryBound(to: UInt8.self)
    }

    // MARK: JSON

    /// The name of the next member, with the comma that separates it from the one before.
    public mutating func key(_ name: StaticString) {
        if count == 0 || base[count - 1] != UInt8(ascii: "{") { byte(UInt8(ascii: ",")) }
        byte(UInt8(ascii: "\""))
        raw(name)
        raw("\":")
    }

    /// `true` or `false`.
    public mutating func bool(_ value: Bool) { value ? raw("true") : raw("false") }

    /// A string with its quotes; only what JSON demands is escaped.
    public mutating func string(_ utf8: UnsafeBufferPointer<UInt8>) {
        byte(UInt8(ascii: "\""))
        var start = 0  // of a run that stands as it is
        for at in 0..<utf8.count where Self.isEscaped(utf8[at]) {
            raw(UnsafeBufferPointer(rebasing: utf8[start..<at]))
            escape(utf8[at])
            start = at + 1
        }
        raw(UnsafeBufferPointer(rebasing: utf8[start...]))
        byte(UInt8(ascii: "\""))
    }

    /// A string with its quotes, given as UTF-8; only what JSON demands is escaped.
    public mutating func string(_ utf8: [UInt8]) { utf8.withUnsafeBufferPointer { string($0) } }

    /// A string with its quotes; only what JSON demands is escaped.
    public mutating func string(_ text: String) {
        var text = text
        text.withUTF8 { string($0) }
    }

    private static func isEscaped(_ unit: UInt8) -> Bool {
        unit < 0x20 || unit == UInt8(ascii: "\"") || unit == UInt8(ascii: "\\")
    }

    private mutating func escape(_ unit: UInt8) {
        switch unit {
        case UInt8(ascii: "\""): raw("\\\"")
        case UInt8(ascii: "\\"): raw("\\\\")
        case 0x0A: raw("\\n")
        case 0x0D: raw("\\r")
        case 0x09: raw("\\t")
        default:
            raw("\\u00")
            byte(Self.hexDigit(unit >> 4))
            byte(Self.hexDigit(unit & 15))
        }
    }

    private static func hexDigit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
    }

    // MARK: Numbers

    /// An integer of at most 64 bits in decimal notation.
    @inlinable
    public mutating func integer(_ value: some FixedWidthInteger) {
        write(atMost: JSONCursor.numberBytes) { $0.integer(value) }
    }

    /// Millionths in decimal notation: 3_519_661_461 is `3519.661461`, 2_000_000 is `2.0`.
    public mutating func millionths(_ value: Int64) {
        write(atMost: JSONCursor.numberBytes) { $0.millionths(value) }
    }

    /// A finite binary64 in the shortest spelling that reads back as the same value.
    public mutating func double(_ value: Double) {
        precondition(value.isFinite, "\(value) has no JSON spelling")
        if let millionths = Self.millionths(of: value) { return self.millionths(millionths) }
        var text = value.description
        text.withUTF8 { raw($0) }
    }

    /// A number that is the nearest to some number of millionths, as coordinates and radii mostly are;
    /// nil for others. Of at most fifteen digits no others read back as the same value, so those of
    /// the millionths are the shortest.
    private static func millionths(of value: Double) -> Int64? {
        guard (0.001..<1e9).contains(abs(value)) else { return nil }
        let millionths = (value * 1e6).rounded()
        return millionths / 1e6 == value ? Int64(millionths) : nil
    }

    /// A number in the spelling that reads back as the same value; a decimal has to be finite.
    public mutating func number(_ value: JSONNumber) {
        switch value {
        case .integer(let integer): self.integer(integer)
        case .unsigned(let unsigned): self.integer(unsigned)
        case .decimal(let decimal): self.double(decimal)
        }
    }
}
