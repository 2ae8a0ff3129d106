import Geodesy
import JSONText
import Objects

/// Values of any type as bytes whose order is the order of the values.
///
///     var key = SortKey()
///     key.append(view["price"], descending: false)
///     key.append(view["name"], descending: true)
///     a.bytes.lexicographicallyPrecedes(b.bytes)       // a comes first
///
/// Types order null, booleans, numbers, strings, GeoPoints, arrays and objects; a missing value is
/// last in both directions. Equal values have equal bytes: `1` and `1.0`, longitude 180 and -180.
public struct SortKey: Sendable, Hashable, Comparable {
    public private(set) var bytes: [UInt8]

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
        /// Above every tag, and above every tag's complement.
        static let missing: UInt8 = 255
    }

    /// Appends the key of a field's value, or of its absence.
    public mutating func append(_ value: JSONView?, descending: Bool) {
        guard let value else {
            bytes.append(Tag.missing)
            return
        }
        let start = bytes.count
        switch value.kind {
        case .null: bytes.append(Tag.null)
        case .bool: bytes += [Tag.bool, value.bool! ? 1 : 0]
        case .number: append(value.number!)
        case .string: append(value.utf8!)
        case .array: bytes.append(Tag.container)
        case .object:
            if let place = GeoPoint.coordinate(of: value) {
                bytes.append(Tag.point)
                append(place.latitude)
                append(place.canonicalLongitude)
            } else {
                bytes.append(Tag.container)
            }
        case .huge: preconditionFailure("no stored document holds a number out of range")
        }
        if descending { complement(from: start) }
    }

    /// Appends the key of a distance, or of its absence.
    public mutating func append(_ distance: Distance?, descending: Bool) {
        guard let distance else {
            bytes.append(Tag.missing)
            return
        }
        let start = bytes.count
        bytes.append(Tag.number)
        append(bigEndian: UInt64(distance.micrometers))
        if descending { complement(from: start) }
    }

    /// The distance that an ascending key begins with, or nil where it begins with something else.
    public var distance: Distance? {
        guard bytes.count >= 9, bytes[0] == Tag.number else { return nil }
        let micrometers = bytes[1..<9].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        return Int64(exactly: micrometers).map(Distance.init(micrometers:))
    }

    private mutating func append(_ number: JSONNumber) {
        bytes.append(Tag.number)
        let (floor, rest) = number.floored
        append(floor)
        bytes += [UInt8(rest >> 8), UInt8(rest & 255)]
    }

    /// The order of finite doubles as the order of unsigned integers; -0.0 is 0.0.
    private mutating func append(_ value: Double) {
        let bits = (value == 0 ? 0 : value).bitPattern
        append(bigEndian: bits >> 63 == 0 ? bits | 1 << 63 : ~bits)
    }

    /// A zero byte in the text is 00 FF, the end is 00 00: so a prefix comes before what it begins.
    private mutating func append(_ utf8: UnsafeBufferPointer<UInt8>) {
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

    private mutating func complement(from start: Int) {
        for index in start..<bytes.count { bytes[index] = ~bytes[index] }
    }
}
