/// What the cells of a column are: decided for the whole column, not cell by cell.
public enum ColumnType: Sendable, Hashable {
    /// Every cell as it stands.
    case text
    /// JSON numbers; with a comma before the fraction if `comma`.
    case number(comma: Bool)
    /// `true false yes no t f`, in any case.
    case boolean
    /// Milliseconds since 1970, of ISO 8601 or of a format of strptime(3).
    case date(format: String?)
}

/// Looks at the cells of one column and decides what they are.
struct ColumnSample {
    private(set) var cells = 0
    private var points = 0
    private var commas = 0
    private var whole = 0
    private var booleans = 0
    private var quoted = 0

    mutating func add(_ cell: UnsafeBufferPointer<UInt8>, isQuoted: Bool) {
        cells += 1
        if isQuoted { quoted += 1 }
        if JSONSpelling.bool(cell) != nil { booleans += 1 }
        switch Self.number(cell) {
        case .none: break
        case .whole: whole += 1
        case .point: points += 1
        case .comma: commas += 1
        }
    }

    private enum Number { case none, whole, point, comma }

    /// A number without leading zero, plus sign, or more than 15 significant digits: what changes
    /// nothing when it becomes a number.
    private static func number(_ cell: UnsafeBufferPointer<UInt8>) -> Number {
        guard significantDigits(cell) <= 15 else { return .none }
        if JSONSpelling.isNumber(cell) {
            return cell.contains(UInt8(ascii: ".")) ? .point : .whole
        }
        return JSONSpelling.withPoint(cell) == nil ? .none : .comma
    }

    private static func significantDigits(_ cell: UnsafeBufferPointer<UInt8>) -> Int {
        var (count, hasBegun) = (0, false)
        for byte in cell {
            if byte | 0x20 == UInt8(ascii: "e") { break }
            guard (0x30...0x39).contains(byte) else { continue }
            hasBegun = hasBegun || byte != 0x30
            if hasBegun { count += 1 }
        }
        return count
    }

    /// - Parameter decimal: the sign before the fraction, if it is told.
    func type(decimal: UInt8?) -> ColumnType {
        guard cells > 0, quoted < cells else { return .text }
        if booleans == cells { return .boolean }
        let comma = UInt8(ascii: ",")
        if decimal != comma, points + whole == cells { return .number(comma: false) }
        if decimal != UInt8(ascii: "."), commas + whole == cells { return .number(comma: true) }
        return .text
    }
}

extension JSONSpelling {
    /// A number with a comma before its fraction, spelled as JSON; nil for anything else.
    static func withPoint(_ bytes: UnsafeBufferPointer<UInt8>) -> [UInt8]? {
        guard let comma = bytes.firstIndex(of: UInt8(ascii: ",")) else { return nil }
        var text = Array(bytes)
        text[comma] = UInt8(ascii: ".")
        return text.withUnsafeBufferPointer { isNumber($0) } ? text : nil
    }
}
