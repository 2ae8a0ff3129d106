/// The part of a file that a request asks for by its `Range` (RFC 9110, 14.2).
///
///     ByteRange("bytes=0-99", of: 1_000)          // .part(0..<100)
///     ByteRange("bytes=-10", of: 1_000)           // .part(990..<1_000)
///     ByteRange("bytes=1000-", of: 1_000)         // .none
public enum ByteRange: Sendable, Equatable {
    /// No part is asked for, or one in another unit.
    case whole
    /// These bytes.
    case part(Range<Int>)
    /// What is asked for is not in the file, is no range, or is several.
    case none

    /// What a request asks for.
    ///
    /// - Parameters:
    ///   - field: the value of the header field; nil without one.
    ///   - size: bytes of the file.
    public init(_ field: String?, of size: Int) {
        guard let field, let equals = field.utf8.firstIndex(of: UInt8(ascii: "=")),
            field[..<equals].lowercased() == "bytes"
        else {
            self = .whole
            return
        }
        let ends = field[equals...].dropFirst().split(
            separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2, let first = Self.number(ends[0]), let last = Self.number(ends[1])
        else {
            self = .none
            return
        }
        switch (first, last) {
        case (let first?, let last?) where first <= last && first < size:
            self = .part(first..<min(last, size - 1) + 1)
        case (let first?, nil) where first < size: self = .part(first..<size)
        case (nil, let count?) where count > 0 && size > 0:
            self = .part(max(0, size - count)..<size)
        default: self = .none
        }
    }

    /// A number, nil inside for no digits; nil for anything else. One that is too large for `Int` is
    /// as good as the largest.
    private static func number(_ text: Substring) -> Int?? {
        guard text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return .some(text.isEmpty ? nil : Int(text) ?? .max)
    }
}
