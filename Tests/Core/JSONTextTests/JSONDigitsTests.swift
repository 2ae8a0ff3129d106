import JSONText
import TestSupport
import Testing

/// Numbers whose digits no 64-bit integer and no binary64 keeps.
@Suite struct JSONDigitsTests {
    private static let long = [
        "0.1234567890123456789", "123456789012345678901234567890",
        "-123456789012345678901234567890",
        "9007199254740993.0", "18446744073709551616", "1e-400", "-0.1e-99999999999999999999",
        "0.30000000000000000000001", "12345678901234567.25",
    ]

    @Test(arguments: long)
    func `A number keeps its digits`(_ text: String) throws {
        let value = try JSONValue(parsing: "[\(text)]")
        #expect(value.text == "[\(text)]")
        #expect(try value.jsonValue == value)
        #expect(value[0]?.double == Double(text) && value[0]?.kindName == "a number")
    }

    @Test(arguments: [
        ("12.10", "12.1"), ("1e3", "1000.0"), ("-0.0", "-0.0"), ("0.0000e-7", "0.0"),
        ("1.7976931348623157e308", "1.7976931348623157e+308"), ("5e-324", "5e-324"),
        ("2.2250738585072014e-308", "2.2250738585072014e-308"),
        ("1000000000000000000000000e-6", "1e+18"), ("19.990000000000000", "19.99"),
    ])
    func `What a binary64 keeps is one`(_ text: String, _ shortest: String) throws {
        let value = try JSONValue(parsing: text)
        #expect(value == .double(try #require(Double(text))) && value.text == shortest)
    }

    @Test func `Every binary64 is kept, and none with more digits`() throws {
        var random = SplitMix64(seed: 20_261_123)
        for _ in 0..<20_000 {
            let double = Double(bitPattern: random.next())
            guard double.isFinite, double != 0 else { continue }
            let text = double.description
            #expect(try JSONValue(parsing: text) == .double(double), "\(text)")
            // The same with a digit at the 30th place.
            let parts = text.split(separator: "e")
            let mantissa = parts[0] + (parts[0].contains(".") ? "" : ".")
            let more = mantissa + String(repeating: "0", count: 30 - parts[0].count) + "1"
            let longer = ([more] + parts.dropFirst()).joined(separator: "e")
            let value = try JSONValue(parsing: longer)
            #expect(value.text == longer && value != .double(double))
        }
    }

    @Test func `Equal numbers are equal however they are spelled`() throws {
        func value(_ text: String) throws -> JSONValue { try JSONValue(parsing: text) }
        #expect(
            try value("0.1234567890123456789") == value("1234567890123456789.00e-19"))
        #expect(try value("0.1234567890123456789") != value("0.12345678901234567891"))
        #expect(try value("0.1234567890123456789") != value("-0.1234567890123456789"))
        #expect(try value("0.1234567890123456789") != value("0.1234567890123457"))
    }

    @Test func `Whole numbers are integers to the last digit`() throws {
        #expect(try JSONValue(parsing: "9007199254740993.0").int == 9_007_199_254_740_993)
        #expect(try JSONValue(parsing: "-922337203685477580.8e1").decode(Int64.self) == .min)
        #expect(try JSONValue(parsing: "18446744073709551615.0").decode(UInt64.self) == .max)
        #expect(try JSONValue(parsing: "18446744073709551616").int == nil)
        #expect(throws: JSONMismatch("12345678901234567.25 does not fit Int")) {
            try JSONValue(parsing: "12345678901234567.25").decode(Int.self)
        }
    }
}
