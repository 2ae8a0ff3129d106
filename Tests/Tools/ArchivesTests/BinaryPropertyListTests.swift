import Foundation
import JSONText
import Testing

/// The bytes of `bplist00`, as no archiver at hand writes all of them.
@Suite struct BinaryPropertyListTests {
    /// Bytes from hexadecimal digits: two for each, `Z` for eight zeros, `F` for eight of FF.
    private static func bytes(_ digits: String) -> [UInt8] {
        digits.split(separator: " ").flatMap { word -> [UInt8] in
            switch word {
            case "Z": [UInt8](repeating: 0, count: 8)
            case "F": [UInt8](repeating: 255, count: 8)
            default: [UInt8(word, radix: 16)!]
            }
        }
    }

    /// A number of so many bytes.
    private static func wide(_ number: Int, _ count: Int) -> [UInt8] {
        (0..<count).reversed().map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
    }

    private static func text(_ text: String) -> [UInt8] {
        [0x5F, 0x10, UInt8(text.utf8.count)] + Array(text.utf8)
    }

    private static func list(
        _ values: [[UInt8]], offsetBytes: Int = 2, referenceBytes: Int = 1
    ) -> [UInt8] {
        var bytes = Array("bplist00".utf8)
        var offsets: [UInt8] = []
        for value in values {
            offsets += wide(bytes.count, offsetBytes)
            bytes += value
        }
        let table = bytes.count
        bytes += offsets
        bytes += [0, 0, 0, 0, 0, 0, UInt8(offsetBytes), UInt8(referenceBytes)]
        return bytes + wide(values.count, 8) + wide(0, 8) + wide(table, 8)
    }

    /// An archive whose root is a value of these bytes.
    ///
    /// - Parameters:
    ///   - more: further values; the first is number 13.
    ///   - offsetBytes: the width of an offset.
    ///   - referenceBytes: the width of a reference to a value.
    private static func archive(
        _ root: [UInt8], more: [[UInt8]] = [], offsetBytes: Int = 2, referenceBytes: Int = 1
    ) -> [UInt8] {
        func container(_ marker: UInt8, _ references: ClosedRange<Int>) -> [UInt8] {
            [marker] + references.flatMap { wide($0, referenceBytes) }
        }
        var values = [
            container(0xD4, 1...8), text("$version"), text("$archiver"), text("$top"),
            text("$objects"), bytes("12 00 01 86 a0"), text("NSKeyedArchiver"),
            container(0xD1, 9...10), container(0xA2, 11...12), text("root"), bytes("80 01"),
            text("$null"), root,
        ]
        values += more
        return list(values, offsetBytes: offsetBytes, referenceBytes: referenceBytes)
    }

    @Test(arguments: [
        ("10 c8", "200"), ("11 ff ff", "65535"), ("12 ff ff ff ff", "4294967295"),
        ("13 F", "-1"), ("13 80 00 00 00 00 00 00 00", "-9223372036854775808"),
        ("13 7f ff ff ff ff ff ff ff", "9223372036854775807"), ("22 40 60 00 00", "3.5"),
        ("23 c0 0c 00 00 00 00 00 00", "-3.5"), ("09", "1"), ("08", "0"),
    ])
    func `Numbers are those that Foundation reads`(_ digits: String, _ json: String) throws {
        let root = Self.bytes(digits)
        let alone = Data(Self.list([root]))
        let list = try PropertyListSerialization.propertyList(from: alone, format: nil)
        let number = try #require(list as? NSNumber)
        #expect(try JSONValue(parsing: number.stringValue) == JSONValue(parsing: json))
        let found = outcome(Self.archive(root))
        #expect(found == (["08": "false", "09": "true"][digits] ?? json))
    }

    @Test(arguments: [
        ("14 Z F", "18446744073709551615"),
        ("14 Z 80 00 00 00 00 00 00 00", "9223372036854775808"),
        ("14 Z 7f ff ff ff ff ff ff ff", "9223372036854775807"),
        ("14 F 80 00 00 00 00 00 00 00", "-9223372036854775808"), ("14 F F", "-1"),
        ("00", "null"), ("08", "false"), ("09", "true"), ("22 3d cc cc cd", "0.1"),
        ("33 Z", "978307200000"), ("33 bf e0 00 00 00 00 00 00", "978307199500"),
        ("40", "\"\""), ("43 00 ff 10", "\"AP8Q\""), ("4f 11 00 01 41", "\"QQ==\""),
        ("50", "\"\""), ("52 61 62", "\"ab\""), ("5f 12 00 00 00 01 61", "\"a\""),
        ("62 d8 3c df 63", "\"🍣\""), ("61 d8 3c", "\"\u{FFFD}\""),
        ("6f 10 01 00 e9", "\"é\""), ("72 c3 a9", "\"é\""), ("51 ff", "\"\u{FFFD}\""),
        ("a0", "[]"), ("a2 02 05", #"["$archiver",100000]"#), ("af 10 01 05", "[100000]"),
        ("b1 05", "[100000]"), ("c1 05", "[100000]"),
    ])
    func `Values of every kind are read`(_ digits: String, _ json: String) {
        #expect(outcome(Self.archive(Self.bytes(digits))) == json)
    }

    @Test func `Offsets and references have 1 to 8 bytes each`() {
        for offsetBytes in 1...8 {
            for referenceBytes in 1...8 {
                let bytes = Self.archive(
                    [0xA1] + Self.wide(13, referenceBytes), more: [Self.text("last")],
                    offsetBytes: offsetBytes, referenceBytes: referenceBytes)
                #expect(outcome(bytes) == #"["last"]"#, "\(offsetBytes), \(referenceBytes)")
            }
        }
    }

    @Test func `A reference to an object has 1 to 16 bytes, of which 8 may say something`() {
        for width in 1...16 {
            let zeros = [UInt8](repeating: 0, count: width - 1)
            let reference = [0x80 + UInt8(width - 1)] + zeros + [7]
            let found = outcome(Self.archive([0xA1, 13], more: [reference]))
            #expect(found == "root[0]: refers to object 7 of 2", "\(width)")
        }
        let far = outcome(Self.archive([0xA1, 13], more: [Self.bytes("88 01 Z")]))
        #expect(far.contains("value 13 of the property list is a reference that makes no sense"))
    }

    @Test(arguments: [
        ("01", "value 13 of the property list has an unknown type"),
        ("0f", "has an unknown type"), ("90", "has an unknown type"), ("e0", "has an unknown type"),
        ("ff", "has an unknown type"), ("15 Z Z Z Z", "is an integer that makes no sense"),
        ("1f", "is an integer that makes no sense"),
        ("14 01 00 00 00 00 00 00 00 Z", "is an integer beyond 64 bits"),
        ("14 F Z", "is an integer beyond 64 bits"), ("20 00", "is a number that makes no sense"),
        ("21 00 00", "is a number that makes no sense"),
        ("24 Z Z", "is a number that makes no sense"), ("2f", "is a number that makes no sense"),
        ("22 7f c0 00 00", "nan has no JSON spelling"),
        ("22 7f 80 00 01", "nan has no JSON spelling"),
        ("23 ff f0 00 00 00 00 00 00", "-inf has no JSON spelling"),
        ("33 7f f0 00 00 00 00 00 00", "is no date that has milliseconds in 64 bits"),
        ("33 7f f8 00 00 00 00 00 00", "is no date that has milliseconds in 64 bits"),
        ("33 47 f0 00 00 00 00 00 00", "is no date that has milliseconds in 64 bits"),
        ("5f 20", "has a length that makes no sense"),
        ("5f 14 Z Z", "has a length that makes no sense"),
        ("4f 13 F", "has a length that makes no sense"),
        ("4f 13 7f ff ff ff ff ff ff ff", "is longer than the file"),
        ("6f 13 40 00 00 00 00 00 00 00", "is longer than the file"),
        ("df 13 40 00 00 00 00 00 00 00", "is longer than the file"),
        ("a1 c8", "value 200 of the property list has no place in the file"),
        ("d1 05 05", "a key is no string"),
    ])
    func `What makes no sense is refused with its place`(_ digits: String, _ message: String) {
        // It is the last value, so what is cut off reaches into the table.
        let told = outcome(Self.archive([0xA1, 13], more: [Self.bytes(digits)]))
        #expect(told.hasPrefix("root[0]") && told.contains(message), "\(told)")
    }

    /// The trailer has 6 bytes unused, the widths, then the numbers of values, root and table.
    @Test(arguments: [
        (6, "00"), (6, "09"), (7, "00"), (7, "09"), (8, "Z"), (8, "F"), (15, "0e"), (16, "F"),
        (23, "0d"), (24, "F"), (24, "Z"), (31, "08"),
    ])
    func `A trailer that makes no sense is refused`(_ offset: Int, _ digits: String) {
        var bytes = Self.archive([0xA0])
        #expect(outcome(bytes) == "[]")
        let (start, changed) = (bytes.count - 32 + offset, Self.bytes(digits))
        bytes.replaceSubrange(start..<start + changed.count, with: changed)
        #expect(outcome(bytes) == "the trailer of the binary property list makes no sense")
    }

    @Test func `A table that begins or ends elsewhere is refused`() {
        let bytes = Self.archive([0xA0])
        for shift in [1, 2, 26, 27] {
            var changed = bytes
            changed[changed.count - 1] += UInt8(shift)
            #expect(outcome(changed).contains("makes no sense"), "\(shift)")
        }
        #expect(outcome(Array(bytes.prefix(40))).contains("cut off"))
    }
}
