import Foundation
import JSONText
import Testing

/// Classes of Foundation that say more than an array or a string does.
@Suite struct ArchivedClassTests {
    private static func root(
        _ names: [String], _ members: KeyValuePairs<String, String>
    ) -> String {
        var archive = ArchiveText()
        let root = archive.instance(names, members)
        return outcome(archive.bytes(top: ["root": root]))
    }

    // MARK: NSCountedSet

    /// As Foundation of macOS and iOS writes it: `NS.count`, then an element and its count in turn.
    private static func countedSet(
        _ counts: [String], total: String? = nil
    ) -> (ArchiveText, root: Int) {
        var archive = ArchiveText()
        let elements = counts.indices.map { archive.string("e\($0)") }
        let names = ["NSCountedSet", "NSMutableSet", "NSSet", "NSObject"]
        let empty = archive.instance(names, [:])
        var members = "<key>$class</key>\(ArchiveText.uid(empty - 1))"
        members += "<key>NS.count</key><integer>\(total ?? "\(counts.count)")</integer>"
        for (index, count) in counts.enumerated() {
            members += "<key>NS.object\(index)</key>\(ArchiveText.uid(elements[index]))"
            members += "<key>NS.count\(index)</key>\(count)"
        }
        let root = archive.add("<dict>\(members)</dict>")
        return (archive, root)
    }

    @Test func `A counted set has its elements and how often each is there`() {
        let (archive, root) = Self.countedSet(["<integer>3</integer>", "<integer>1</integer>"])
        #expect(
            outcome(archive.bytes(top: ["root": root]))
                == #"[{"value":"e0","count":3},{"value":"e1","count":1}]"#)
        let (empty, none) = Self.countedSet([])
        #expect(outcome(empty.bytes(top: ["root": none])) == "[]")
    }

    @Test func `A counted set that Foundation on Linux writes as a plain one counts each once`() {
        let archiver = NSKeyedArchiver(requiringSecureCoding: false)
        archiver.encode(NSCountedSet(array: ["a"]), forKey: "root")
        archiver.finishEncoding()
        #expect(outcome(Array(archiver.encodedData)) == #"[{"value":"a","count":1}]"#)
    }

    @Test(
        arguments: [
            (["<integer>0</integer>"], nil, "root[0]: has a count that is no whole number above 0"),
            (["<real>1.5</real>"], nil, "root[0]: has a count that is no whole number above 0"),
            (["<string>2</string>"], nil, "root[0]: has a count that is no whole number above 0"),
            (["<integer>1</integer>"], "2", "root: is a counted set that lacks elements"),
            (
                ["<integer>1</integer>"], "999999999999",
                "root: is a counted set that lacks elements"
            ),
            (["<integer>1</integer>"], "0", "root: is a counted set that lacks elements"),
        ] as [([String], String?, String)])
    func `A counted set that is not whole is refused`(
        _ counts: [String], _ total: String?, _ message: String
    ) {
        let (archive, root) = Self.countedSet(counts, total: total)
        #expect(outcome(archive.bytes(top: ["root": root])) == message)
    }

    @Test func `A collection of an app's own that encodes its own keys is an object of those`() {
        for name in ["NSMutableArray", "NSCountedSet", "NSMutableDictionary"] {
            #expect(
                Self.root(["MYList", name, "NSObject"], ["title": "<string>x</string>"])
                    == #"{"title":"x"}"#, "\(name)")
        }
        #expect(Self.root(["NSOrderedSet", "NSObject"], [:]) == "[]")
    }

    // MARK: NSDecimalNumber

    /// - Parameter words: of the mantissa, the lowest first.
    private static func decimal(_ words: [UInt16], exponent: Int, isNegative: Bool = false)
        -> String
    {
        var bytes = words.flatMap { [UInt8(truncatingIfNeeded: $0), UInt8($0 >> 8)] }
        bytes += Array(repeating: 0, count: 16 - bytes.count)
        return root(
            ["NSDecimalNumberPlaceholder", "NSDecimalNumber", "NSNumber", "NSValue", "NSObject"],
            [
                "NS.exponent": "<integer>\(exponent)</integer>",
                "NS.length": "<integer>\(words.count)</integer>",
                "NS.negative": isNegative ? "<true/>" : "<false/>", "NS.compact": "<true/>",
                "NS.mantissa.bo": "<integer>1</integer>",
                "NS.mantissa": "<data>\(Data(bytes).base64EncodedString())</data>",
            ])
    }

    @Test(
        arguments: [
            ([0xFFFF, 0xFFFF, 0xFFFF, 0xFFFF], 0, false, "18446744073709551615"),
            ([0x9999, 0x9999, 0x9999, 0x1999], 1, false, "18446744073709551610"),
            ([0, 0, 0, 0, 1], 0, false, "18446744073709551616"),
            ([0, 0, 0, 0x8000], 0, true, "-9223372036854775808"),
            ([1, 0, 0, 0x8000], 0, true, "-9223372036854775809"),
            ([1_234], -2, false, "12.34"), ([1_200], -2, true, "-12"), ([5], 2, false, "500"),
            ([0], 3, false, "0"), ([], 0, false, "0"), ([1], 127, false, "1e+127"),
            ([1], -127, true, "-1e-127"),
            ([5], -3, false, "0.005"), ([1], -1, true, "-0.1"), ([100], -1, false, "10"),
        ] as [([UInt16], Int, Bool, String)])
    func `A decimal number has its value, whole ones up to 64 bits exactly`(
        _ words: [UInt16], _ exponent: Int, _ isNegative: Bool, _ json: String
    ) throws {
        let found = Self.decimal(words, exponent: exponent, isNegative: isNegative)
        #expect(try JSONValue(parsing: found) == JSONValue(parsing: json), "\(found)")
        #expect(found.contains(".") || found.contains("e") || found == json, "\(found)")
    }

    @Test func `What is no number in decimal is refused`() {
        #expect(Self.decimal([], exponent: 0, isNegative: true) == "root: NaN has no JSON spelling")
        let lacking = "root: an object of a class of Foundation lacks its contents"
        #expect(Self.root(["NSDecimalNumber", "NSNumber", "NSObject"], [:]) == lacking)
        #expect(
            Self.root(
                ["NSDecimalNumber", "NSNumber", "NSObject"], ["NS.length": "<integer>1</integer>"])
                == lacking)
        #expect(
            Self.root(
                ["NSDecimalNumber", "NSNumber", "NSObject"],
                ["NS.length": "<integer>2</integer>", "NS.mantissa": "<data>AQA=</data>"])
                == lacking)
    }

    // MARK: Without a class

    @Test func `An object that names no class is refused with its path`() {
        var archive = ArchiveText()
        let bare = archive.add("<dict><key>name</key><string>x</string></dict>")
        let shop = archive.instance(["Shop", "NSObject"], ["part": ArchiveText.uid(bare)])
        let root = archive.list([shop])
        #expect(outcome(archive.bytes(top: ["root": root])).hasPrefix("root[0].part: has no class"))
    }
}
