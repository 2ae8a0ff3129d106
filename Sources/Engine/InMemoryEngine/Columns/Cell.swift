import JSONText
import QueryLanguage

/// One value of a column in 64 bits. The order of the bits is the order of types and, among null,
/// booleans and numbers, the order of values.
///
/// Finite binary64 values take the middle of the range, as sign-magnitude numbers made monotonic.
/// The NaN patterns on both sides hold everything else. Strings, points, and integers that no
/// binary64 represents exactly are *coded*: their low bits are an address in the column's
/// dictionary. Equal values have equal addresses; the addresses have no order.
public struct Cell: BitwiseCopyable, Hashable, Sendable {
    /// The bits, compared as unsigned integers. Coded values of one type have no meaningful order.
    public let bits: UInt64

    static let null = Cell(bits: 1)
    static let no = Cell(bits: 2)
    static let yes = Cell(bits: 3)
    @inlinable static var array: Cell { Cell(bits: 0xFFF8 << 48) }
    @inlinable static var object: Cell { Cell(bits: 0xFFF9 << 48) }
    /// A value that the column does not know. Only the document contains it.
    @inlinable public static var unknown: Cell { Cell(bits: .max - 1) }
    /// The cell of an object without the field.
    @inlinable public static var missing: Cell { Cell(bits: .max) }

    /// The range of cells for numbers that are exact binary64 values.
    static let numbers: ClosedRange<UInt64> = 1 << 52...0xFFF0 << 48 - 1

    @inlinable
    init(bits: UInt64) { self.bits = bits }

    @inlinable
    public static func == (a: Cell, b: Cell) -> Bool { a.bits == b.bits }

    init(_ value: Bool) { self = value ? .yes : .no }

    /// - Parameter value: a finite number; -0.0 is stored as 0.0.
    init(_ value: Double) { bits = value.ordered }

    init(_ kind: Coded, at address: UInt32) { bits = UInt64(kind.rawValue) << 48 | UInt64(address) }

    /// The kinds of values that a dictionary holds.
    enum Coded: UInt16 {
        /// An integer beyond 2^53, stored as its `floored` pair.
        case number = 0xFFF0
        case string = 0xFFF1
        case point = 0xFFF2

        /// The byte that distinguishes the kinds in the dictionary.
        var tag: UInt8 { UInt8(truncatingIfNeeded: rawValue) }
    }

    var coded: Coded? { isCoded ? Coded(rawValue: UInt16(bits >> 48)) : nil }

    @inlinable
    var isCoded: Bool { bits >= 0xFFF0 << 48 && bits < Cell.array.bits }

    /// The address of a coded cell's value in the dictionary.
    var address: UInt32 { UInt32(truncatingIfNeeded: bits) }

    /// The binary64 of a number cell that is not coded.
    var double: Double { Double(ordered: bits) }

    var type: CellTypes {
        switch bits {
        case Cell.null.bits: .null
        case Cell.no.bits, Cell.yes.bits: .bool
        case Cell.missing.bits: .missing
        case Cell.array.bits: .array
        case Cell.object.bits: .object
        default:
            switch coded {
            case .string: .string
            case .point: .point
            case .number, nil: .number
            }
        }
    }
}

/// A set of types of cells. The raw values are in the order of types.
struct CellTypes: OptionSet, Sendable {
    let rawValue: UInt16

    static let null = CellTypes(rawValue: 1)
    static let bool = CellTypes(rawValue: 2)
    static let number = CellTypes(rawValue: 4)
    static let string = CellTypes(rawValue: 8)
    static let point = CellTypes(rawValue: 16)
    static let array = CellTypes(rawValue: 32)
    static let object = CellTypes(rawValue: 64)
    static let missing = CellTypes(rawValue: 128)

    static let present: CellTypes = [.null, .bool, .number, .string, .point, .array, .object]

    /// The rank in the order of types. Arrays and objects have the same rank.
    var rank: UInt16 { self == .object ? CellTypes.array.rawValue : rawValue }
}

extension Double {
    /// Maps the order of finite doubles to the order of unsigned integers.
    var ordered: UInt64 {
        let bits = (self == 0 ? 0 : self).bitPattern
        return bits >> 63 == 0 ? bits | 1 << 63 : ~bits
    }

    init(ordered bits: UInt64) {
        self.init(bitPattern: bits >> 63 == 1 ? bits & ~(1 << 63) : ~bits)
    }
}
