import Geodesy
import PlainJSON

/// Values of any type as bytes whose order is the order of the values.
///
///     var key = SortKey()
///     key.append(SortValue(view["price"]), descending: false)
///     key.append(SortValue(view["name"]), descending: true)
///     a.bytes.lexicographicallyPrecedes(b.bytes)       // a comes first
///
/// Types order null, booleans, numbers, strings, GeoPoints, arrays and objects; a missing value is
/// last in both directions. Equal values have equal bytes: `1` and `1.0`, longitude 180 and -180.
public struct SortKey: Sendable, Hashable, Comparable {
    /// The encoded values one after the other; compared as unsigned bytes.
    public private(set) var bytes: [UInt8]

    /// A key by its bytes, as another key had them; by default an empty one.
    public init(bytes: [UInt8] = []) { self.bytes = bytes }

    public static func < (a: SortKey, b: SortKey) -> Bool {
        a.bytes.lexicographicallyPrecedes(b.bytes)
    }

    private enum Tag {
        static let null: UInt8 = 1
        static let bool: UInt8 = 2
        static let number: UInt8 = 3
        static let string: UInt8 = 4
        static let point: UInt8 = 5
        static let container: UInt8 = 6
        static let distance: UInt8 = 7
        /// Above every tag, and above every tag's complement.
        static let missing: UInt8 = 255
    }

    /// Appends a value. Keys are comparable only if their values have the same directions.
    public mutating func append(_ value: SortValue, descending: Bool) {
        let start = bytes.count
        switch value {
        case .null: bytes.append(Tag.null)
        case .bool(let bool): bytes += [Tag.bool, bool ? 1 : 0]
        case .number(let floor, let rest):
            bytes.append(Tag.number)
            append(floor)
            bytes += [UInt8(rest >> 8), UInt8(rest & 255)]
        case .string(let utf8): append(string: utf8)
        case .point(let latitude, let longitude):
            bytes.append(Tag.point)
            append(latitude)
            append(longitude)
        case .container: bytes.append(Tag.container)
        case .distance(let distance):
            bytes.append(Tag.distance)
            append(bigEndian: UInt64(distance.micrometers))
        case .missing: return bytes.append(Tag.missing)
        }
        if descending { for position in start..<bytes.count { bytes[position] = ~bytes[position] } }
    }

    /// The order of finite doubles as the order of unsigned integers; -0.0 is 0.0.
    private mutating func append(_ value: Double) {
        let bits = (value == 0 ? 0 : value).bitPattern
        append(bigEndian: bits >> 63 == 0 ? bits | 1 << 63 : ~bits)
    }

    /// A zero byte in the text is 00 FF, the end is 00 00: so a prefix comes before what it begins.
    private mutating func append(string utf8: [UInt8]) {
        bytes.append(Tag.string)
        for unit in utf8 {
            bytes.append(unit)
            if unit == 0 { bytes.append(255) }
        }
        bytes += [0, 0]
    }

    private mutating func append(bigEndian value: UInt64) {
        withUnsafeBytes(of: value.bigEndian) { bytes.append(contentsOf: $0) }
    }

    // MARK: Back again

    /// The values of a key with this many parts; nil for bytes that are not such a key.
    public func values(descending: [Bool]) -> [SortValue]? {
        var rest = bytes[...]
        var values: [SortValue] = []
        for isDescending in descending {
            guard let value = Self.value(&rest, isDescending) else { return nil }
            values.append(value)
        }
        return rest.isEmpty ? values : nil
    }

    private static func value(_ rest: inout ArraySlice<UInt8>, _ descending: Bool) -> SortValue? {
        let flip: UInt8 = descending ? 255 : 0
        func next() -> UInt8? { rest.popFirst().map { $0 ^ flip } }
        func word() -> UInt64? {
            guard rest.count >= 8 else { return nil }
            return (0..<8).reduce(0) { value, _ in value << 8 | UInt64(next()!) }
        }
        func double() -> Double? {
            word().map { Double(bitPattern: $0 >> 63 == 1 ? $0 & ~(1 << 63) : ~$0) }
        }
        guard let first = rest.first else { return nil }
        if first == Tag.missing {
            rest.removeFirst()
            return .missing
        }
        switch next()! {
        case Tag.null: return .null
        case Tag.bool: return next().map { .bool($0 == 1) }
        case Tag.number:
            guard let floor = double(), let high = next(), let low = next() else { return nil }
            return .number(floor: floor, rest: UInt16(high) << 8 | UInt16(low))
        case Tag.string:
            var utf8: [UInt8] = []
            while let unit = next() {
                guard unit == 0 else {
                    utf8.append(unit)
                    continue
                }
                guard let after = next() else { return nil }
                if after == 0 { return .string(utf8) }
                utf8.append(0)
            }
            return nil
        case Tag.point:
            guard let latitude = double(), let longitude = double() else { return nil }
            return .point(latitude: latitude, longitude: longitude)
        case Tag.container: return .container
        case Tag.distance:
            return word().flatMap { Int64(exactly: $0) }.map {
                .distance(Distance(micrometers: $0))
            }
        default: return nil
        }
    }
}
