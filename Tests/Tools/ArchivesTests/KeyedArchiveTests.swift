import Archives
import JSONText
import Testing

/// What stands in an archive, and what it becomes.
@Suite struct KeyedArchiveTests {
    private static func member(_ xml: String) -> String {
        var archive = ArchiveText()
        let root = archive.instance(["Thing", "NSObject"], ["v": xml])
        return outcome(archive.bytes(top: ["root": root]))
    }

    @Test(arguments: [
        ("<integer>-128</integer>", "-128"),
        ("<integer>9223372036854775807</integer>", "9223372036854775807"),
        ("<integer>18446744073709551615</integer>", "18446744073709551615"),
        ("<true/>", "true"), ("<false/>", "false"), ("<real>0.1</real>", "0.1"),
        ("<real>3</real>", "3.0"), ("<string/>", "\"\""),
        ("<string>a&lt;b&#x1F363;&#10;<![CDATA[<c>&]]></string>", #""a<b🍣\n<c>&""#),
        ("<data>\n AP8Q\n</data>", "\"AP8Q\""),
        ("<date>2016-07-01T00:00:00Z</date>", "1467331200000"),
        ("<date>2016-02-29T00:00:00Z</date>", "1456704000000"),
        ("<date>2016-12-31T00:00:00Z</date>", "1483142400000"),
        ("<array><integer>1</integer><array/></array>", "[1,[]]"),
        ("<dict><key>a</key><true/></dict>", #"{"a":true}"#),
    ])
    func `An encoded value becomes JSON`(_ xml: String, _ json: String) {
        #expect(Self.member(xml) == #"{"v":\#(json)}"#)
    }

    @Test(arguments: [
        ("<integer>18446744073709551616</integer>", "no integer"), ("<real>x</real>", "no number"),
        ("<real>nan</real>", "root.v: nan has no JSON spelling"), ("<data>A</data>", "base64"),
        ("<date>2016-13-01T00:00:00Z</date>", "no date"), ("<blink/>", "<blink>"),
        ("<string>&bomb;</string>", "&bomb"), ("<array>", "unexpected </dict>"),
        ("<dict><key>a</key></dict>", "has no value"), ("<key>x</key>", "<key>"),
        (ArchiveText.uid(99), "root.v: refers to object 99 of 3"),
        ("<dict><key>a</key><true/><key>a</key><true/></dict>", "root.v.a: stands here twice"),
    ])
    func `What makes no sense is told with its place`(_ xml: String, _ message: String) {
        #expect(Self.member(xml).contains(message), "\(Self.member(xml))")
    }

    @Test func `Instances of known classes become what they mean`() {
        var archive = ArchiveText()
        let date = archive.instance(["NSDate", "NSObject"], ["NS.time": "<real>0.5</real>"])
        let base = archive.string("https://example.org/shops/")
        let relative = archive.string("a?b=1")
        let url = archive.instance(
            ["NSURL", "NSObject"],
            ["NS.base": ArchiveText.uid(base), "NS.relative": ArchiveText.uid(relative)])
        let text = archive.instance(
            ["MYString", "NSMutableString", "NSString", "NSObject"],
            ["NS.string": "<string>s</string>"])
        let price = archive.instance(
            ["NSDecimalNumber", "NSNumber", "NSObject"],
            [
                "NS.exponent": "<integer>-2</integer>", "NS.length": "<integer>1</integer>",
                "NS.negative": "<true/>", "NS.mantissa": "<data>0gQAAAAAAAAAAAAAAAAAAA==</data>",
            ])
        let ordered = archive.instance(
            ["NSOrderedSet", "NSObject"],
            ["NS.object.0": ArchiveText.uid(text), "NS.object.1": ArchiveText.uid(price)])
        let place = archive.instance(
            ["CLLocation", "NSObject"],
            [
                "kCLLocationCodingKeyCoordinateLatitude": "<real>35.5</real>",
                "kCLLocationCodingKeyCoordinateLongitude": "<real>139</real>",
                "kCLLocationCodingKeyAltitude": "<real>7</real>",
            ])
        let root = archive.instance(
            ["Thing", "NSObject"],
            [
                "date": ArchiveText.uid(date), "url": ArchiveText.uid(url),
                "ordered": ArchiveText.uid(ordered), "place": ArchiveText.uid(place),
                "nil": ArchiveText.uid(0), "$$cash": "<integer>1</integer>",
            ])
        #expect(
            outcome(archive.bytes(top: ["root": root]))
                == #"{"date":978307200500,"url":"https://example.org/shops/a?b=1","ordered":["s",-12.34],"place":{"_type":"point","lat":35.5,"lon":139.0},"$cash":1}"#
        )
    }

    @Test func `Keys of a dictionary are strings, numbers or booleans`() {
        var archive = ArchiveText()
        let keys = ["<true/>", "<false/>", "<integer>1</integer>", "<string>s</string>"]
            .map { ArchiveText.uid(archive.add($0)) }.joined()
        let values = (0..<4).map { ArchiveText.uid(archive.add("<integer>\($0)</integer>")) }
        let root = archive.instance(
            ["NSDictionary", "NSObject"],
            [
                "NS.keys": "<array>\(keys)</array>",
                "NS.objects": "<array>\(values.joined())</array>",
            ])
        #expect(
            outcome(archive.bytes(top: ["root": root])) == #"{"true":0,"false":1,"1":2,"s":3}"#)
        let date = archive.instance(["NSDate", "NSObject"], ["NS.data": "<true/>"])
        let odd = archive.instance(
            ["NSDictionary", "NSObject"],
            [
                "NS.keys": "<array>\(ArchiveText.uid(archive.list([])))</array>",
                "NS.objects": "<array>\(ArchiveText.uid(date))</array>",
            ])
        #expect(
            outcome(archive.bytes(top: ["root": odd]))
                == "root: a key is neither a string, a number nor a boolean")
    }

    @Test func `Shared objects are written wherever they stand, cycles are refused with the path`()
    {
        var archive = ArchiveText()
        let shared = archive.list([archive.string("s")])
        let both = archive.list([shared, shared])
        #expect(outcome(archive.bytes(top: ["root": both])) == #"[["s"],["s"]]"#)
        _ = archive.instance(["Node", "NSObject"], [:])  // so that each other is one object
        let child = archive.count
        _ = archive.instance(["Node", "NSObject"], ["parent": ArchiveText.uid(child + 1)])
        let parent = archive.instance(["Node", "NSObject"], ["child": ArchiveText.uid(child)])
        let root = archive.list([parent])
        #expect(
            outcome(archive.bytes(top: ["root": root]))
                == "root[0].child.parent: refers back to root[0]")
    }

    @Test func `What is no keyed archive is told apart`() {
        var archive = ArchiveText()
        let top = ArchiveText.dictionary(["root": ArchiveText.uid(archive.string("x"))])
        #expect(outcome(archive.bytes(top: top)) == "\"x\"")
        for (bytes, message) in [
            (archive.bytes(archiver: "NSArchiver", top: top), "not written by NSKeyedArchiver"),
            (archive.bytes(version: "99999", top: top), "version is not 100000"),
            (archive.bytes(top: "<array/>"), "$top is no dictionary"),
            (Array("<plist><dict/></plist>".utf8), "it has no $archiver"),
            (Array("<plist><array/></plist>".utf8), "no dictionary"),
            (Array("hello".utf8), "unexpected text"), ([], "no property list"),
            (Array("<html/>".utf8), "no property list"),
            (Array("<!DOCTYPE p [<!ENTITY a \"b\">]><plist/>".utf8), "document type"),
            (archive.bytes(top: "<dict/>"), "no root at its top"),
            (archive.bytes(top: ["root": 0] as KeyValuePairs<String, Int>), "root: is nil"),
        ] {
            #expect(outcome(bytes).contains(message), "\(outcome(bytes))")
        }
    }
}
