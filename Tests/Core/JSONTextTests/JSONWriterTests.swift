import JSONText
import TestSupport
import Testing

/// What is written can be read back.
@Suite struct JSONWriterTests {
    private func text(_ body: (inout JSONWriter) -> Void) -> String {
        var writer = JSONWriter()
        body(&writer)
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    @Test func `Every code point is written so that it reads back, line breaks escaped`() throws {
        let scalars = (0...0x10FFFF as ClosedRange<UInt32>).lazy.compactMap(Unicode.Scalar.init)
            .filter { $0.value < 0x300 || $0.value % 997 == 0 || $0.value > 0x10FF00 }
        for scalar in scalars {
            let string = String(scalar)
            let written = text { $0.string(string) }
            #expect(!written.utf8.contains { $0 < 0x20 }, "U+\(String(scalar.value, radix: 16))")
            let read = try JSONValue(parsing: written).string
            #expect(read?.unicodeScalars.elementsEqual([scalar]) == true)
        }
    }

    @Test func `Only what JSON demands is escaped`() {
        #expect(
            text { $0.string("\"\\/\n\r\t\u{1}\u{1f}é\u{7f}😀") }
                == #""\"\\/\n\r\t\u0001\u001fé"# + "\u{7f}" + #"😀""#)
    }

    @Test(
        arguments: [
            (0, "0.0"), (1, "0.000001"), (10, "0.00001"), (999_999, "0.999999"), (1_000_000, "1.0"),
            (3_519_661_461, "3519.661461"), (20_015_086_796_021, "20015086.796021"),
            (1_500_000, "1.5"), (-1_500_000, "-1.5"), (2_000_010, "2.00001"),
        ] as [(Int64, String)])
    func `Millionths are written in decimal notation without idle zeros`(
        _ value: Int64, _ expected: String
    ) {
        #expect(text { $0.millionths(value) } == expected)
    }

    @Test func `Integers are written at every width`() {
        for value in [0, 9, 10, -1, -10, 12_345, .max, .min] as [Int64] {
            #expect(text { $0.integer(value) } == "\(value)")
        }
        #expect(text { $0.integer(UInt64.max) } == "18446744073709551615")
    }

    @Test func `Integers and millionths are written around every power of ten`() {
        var power = UInt64(1)
        for digits in 1...19 {
            for value in [power - 1, power, power + 1, power * 9 + power / 3, power * 5] {
                #expect(text { $0.integer(value) } == "\(value)")
                guard let millionths = Int64(exactly: value) else { continue }
                let fraction = "\(1_000_000 + millionths % 1_000_000)".dropFirst()
                let end = fraction.lastIndex { $0 != "0" } ?? fraction.startIndex
                let expected = "\(millionths / 1_000_000).\(fraction[...end])"
                #expect(text { $0.millionths(millionths) } == expected, "\(digits) digits")
            }
            power *= digits < 19 ? 10 : 1
        }
    }

    @Test(arguments: 1...3 as ClosedRange<UInt64>)
    func `A decimal is written in the shortest spelling that reads back`(_ seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var values = [
            0.0, -0.0, 0.001, 0.0009999999, 1e9, 999_999_999.999999, 0.1 + 0.2, 1e-5, 5e15,
        ]
        for _ in 0..<20_000 {
            // Up to fifteen digits, eight of them behind the point at most.
            let digits = Double(Int64(random.next() % 1_000_000_000_000_000))
            let scale = [1, 10, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8][Int(random.next() % 9)]
            values += [digits / scale, -digits / scale, (digits / scale).nextUp]
            values.append(Double(Int64(random.next() % 360_000_000)) / 1e6 - 180)
            values.append(Double(bitPattern: random.next()))
        }
        for value in values where value.isFinite {
            #expect(text { $0.double(value) } == value.description, "seed \(seed)")
        }
    }

    @Test func `Texts of every length are copied whole`() {
        let letters = (0..<100).map { UInt8(ascii: "0") + UInt8($0 % 75) }
        for length in 0...letters.count {
            let part = Array(letters[..<length])
            #expect(
                text {
                    $0.raw("<")
                    $0.raw(part)
                    $0.raw(">")
                }.utf8.elementsEqual(
                    "<".utf8 + part + ">".utf8))
        }
    }

    @Test(arguments: 1...3 as ClosedRange<UInt64>)
    func `Numbers read back as the same value`(_ seed: UInt64) throws {
        for number in JSONNumberTests.numbers(seed: seed) {
            let written = text { $0.number(number) }
            #expect(try JSONValue(parsing: written).number == number, "\(written) seed \(seed)")
        }
    }

    @Test func `Minified text loses its white space outside strings and nothing else`() {
        let text = "\t{ \"a b\\\" \\\\\" : [ 1.0 , -0 ,\r\n 1E+5 , \" x \" ] , \"\":{ } } "
        let minified = Array(text.utf8).withUnsafeBufferPointer(minifiedJSON)
        #expect(
            String(decoding: minified, as: UTF8.self)
                == "{\"a b\\\" \\\\\":[1.0,-0,1E+5,\" x \"],\"\":{}}")
    }
}
