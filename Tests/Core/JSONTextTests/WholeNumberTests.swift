import JSONText
import TestSupport
import Testing

/// Whole numbers in Swift's types: what fits is exact, however it is spelled, and nothing else fits.
@Suite struct WholeNumberTests {
    /// The bounds of all types, and their neighbours.
    private static let edges: [Int128] = {
        var edges: [Int128] = [-2, -1, 0, 1, 2]
        for bits in [7, 8, 15, 16, 31, 32, 53, 63, 64, 70] as [Int128] {
            for step in -2...2 as ClosedRange<Int128> {
                let edge = (1 << bits) + step
                edges += [edge, -edge]
            }
        }
        return edges
    }()

    /// Spellings of one number.
    private static func spellings(_ number: Int128) -> [String] {
        if number == 0 { return ["0", "-0", "0.0", "-0.0", "0e5", "0.00E-7"] }
        let digits = String(number.magnitude)
        let sign = number < 0 ? "-" : ""
        let shifted = "\(digits.prefix(1)).\(digits.dropFirst())0e\(digits.count - 1)"
        return [
            digits, "\(digits).0", "\(digits)e0", "\(digits)0E-1", "\(digits)000.000e-3",
            "0.0\(digits)e+\(digits.count + 1)", shifted,
        ].map { sign + $0 }
    }

    private static func check<Whole: FixedWidthInteger & JSONConvertible>(_ type: Whole.Type) throws
    {
        for number in edges {
            for text in spellings(number) {
                let value = try JSONValue(parsing: text)
                let found = try? value.decode(type)
                #expect(found == Whole(exactly: number), "\(text) as \(type)")
            }
            guard number.magnitude < 1 << 50 else { continue }
            let fraction = try JSONValue(parsing: "\(number).5")
            #expect((try? fraction.decode(type)) == nil, "\(number).5")
        }
        for bound in [Whole.min, .max] {
            #expect(try bound.jsonValue.text == "\(bound)")
            #expect(try JSONValue(parsing: "\(bound)").decode(type) == bound)
        }
    }

    @Test func `every type takes what fits it, and refuses the rest`() throws {
        try Self.check(Int8.self)
        try Self.check(Int16.self)
        try Self.check(Int32.self)
        try Self.check(Int64.self)
        try Self.check(Int.self)
        try Self.check(UInt8.self)
        try Self.check(UInt16.self)
        try Self.check(UInt32.self)
        try Self.check(UInt64.self)
        try Self.check(UInt.self)
    }

    @Test(arguments: [
        ("true", "expected a number, found a boolean"), ("null", "expected a number, found null"),
        (#""1""#, "expected a number, found a string"),
        ("[1]", "expected a number, found an array"),
        ("{}", "expected a number, found an object"), ("256", "256 does not fit UInt8"),
        ("0.5", "0.5 does not fit UInt8"), ("-1", "-1 does not fit UInt8"),
        ("1e300", "1e+300 does not fit UInt8"),
        ("123456789012345678901234567890", "123456789012345678901234567890 does not fit UInt8"),
    ])
    func `what does not fit is told`(_ text: String, _ message: String) throws {
        let value = try JSONValue(parsing: text)
        #expect(throws: JSONMismatch(message)) { try value.decode(UInt8.self) }
    }
}
