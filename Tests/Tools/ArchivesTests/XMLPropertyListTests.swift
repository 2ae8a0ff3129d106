import Foundation
import JSONText
import TestSupport
import Testing

/// The XML that property lists are, and XML that they are not.
@Suite struct XMLPropertyListTests {
    /// What the only element of a list is, or why the file is refused.
    private static func element(_ xml: String) -> String {
        var archive = ArchiveText()
        let root = archive.list([archive.add(xml)])
        return outcome(archive.bytes(top: ["root": root]))
    }

    @Test(arguments: [
        ("<string>a<!-- <b> -->c</string>", #"["ac"]"#),
        ("<string> a\tb\n</string>", #"[" a\tb\n"]"#),
        ("<string><![CDATA[]]>]]&gt;<![CDATA[&lt;]]></string>", #"["]]>&lt;"]"#),
        ("<string>&lt;&gt;&amp;&quot;&apos;</string>", #"["<>&\"'"]"#),
        ("<string>&#65;&#x41;&#x1F363;</string>", #"["AA🍣"]"#),
        ("<string>e&#x301;</string>", "[\"e\u{301}\"]"),
        ("<string>&#13;&#10;</string>", #"["\r\n"]"#),
        ("<string></string>", #"[""]"#), ("<string/>", #"[""]"#), ("<string />", #"[""]"#),
        ("<true></true>", "[true]"), ("<false />", "[false]"),
        ("<integer>\n 7 </integer>", "[7]"), ("<integer>-0</integer>", "[0]"),
        ("<integer>-9223372036854775808</integer>", "[-9223372036854775808]"),
        ("<integer>0x1F</integer>", "[31]"), ("<integer>0Xff</integer>", "[255]"),
        ("<integer>-0x8000000000000000</integer>", "[-9223372036854775808]"),
        ("<integer>+0x0</integer>", "[0]"), ("<integer>+7</integer>", "[7]"),
        ("<integer>0xFFFFFFFFFFFFFFFF</integer>", "[18446744073709551615]"),
        ("<real> 1e400 </real>", "root[0]: inf has no JSON spelling"),
        ("<real>-0.0</real>", "[-0.0]"), ("<real>1E2</real>", "[100.0]"),
        ("<data/>", #"[""]"#), ("<data>A A\t=\n=</data>", #"["AA=="]"#),
        ("<data>+/+/</data>", #"["+/+/"]"#), ("<data>AAE=</data>", #"["AAE="]"#),
        ("<array/>", "[[]]"), ("<dict></dict>", "root[0]: has no class: every object of an"),
        ("<array><dict/></array>", "[[{}]]"),
        ("<array><!-- none --><?pi a > ?></array>", "[[]]"),
    ])
    func `Elements are read as XML says`(_ xml: String, _ json: String) {
        #expect(Self.element(xml).hasPrefix(json), "\(Self.element(xml))")
    }

    @Test(arguments: [
        ("<string>&#xD800;</string>", "&#xD800 is no character of XML"),
        ("<string>&#x110000;</string>", "&#x110000 is no character of XML"),
        ("<string>&#99999999999;</string>", "is no character of XML"),
        ("<string>&#;</string>", "is no character of XML"),
        ("<string>& </string>", "is no character of XML"),
        ("<string>&lt</string>", "is no character of XML"),
        ("<string>a<b/></string>", "expected </string>"), ("<string>a</key>", "expected </string>"),
        ("<integer>1.0</integer>", "\"1.0\" is no integer of 64 bits"),
        ("<integer/>", "\"\" is no integer of 64 bits"), ("<real>1 2</real>", "is no number"),
        ("<integer>-9223372036854775809</integer>", "is no integer of 64 bits"),
        ("<integer>0x</integer>", "is no integer"), ("<integer>0x-1</integer>", "is no integer"),
        ("<integer>-+1</integer>", "is no integer"), ("<integer>1F</integer>", "is no integer"),
        ("<integer>0x10000000000000000</integer>", "is no integer of 64 bits"),
        ("<integer>-0x8000000000000001</integer>", "is no integer of 64 bits"),
        (
            "<dict><key>CF$UID</key><integer>-1</integer></dict>",
            "CF$UID is no whole number from 0"
        ),
        ("<dict><key>CF$UID</key><real>1.5</real></dict>", "CF$UID is no whole number from 0"),
        ("<data>AA=A</data>", "<data> is no base64"), ("<data>AAA==</data>", "is no base64"),
        ("<data>====</data>", "is no base64"), ("<data>AA-_</data>", "is no base64"),
        ("<date>2016-01-01</date>", "is no date"), ("<date>2016-00-01T00:00:00Z</date>", "no date"),
        ("<date>2016-01-32T00:00:00Z</date>", "is no date"),
        ("<date>2016-02-30T00:00:00Z</date>", "is no date"),
        ("<date>2015-02-29T00:00:00Z</date>", "is no date"),
        ("<date>1900-02-29T00:00:00Z</date>", "is no date"),
        ("<date>2016-01-01T24:00:00Z</date>", "is no date"),
        ("<date>2016-01-01T00:60:00Z</date>", "is no date"),
        ("<date>٢٠١٦-01-01T00:00:00Z</date>", "is no date"),
        ("<date>2016-01-01T00:00:00+0100</date>", "is no date"),
        ("<dict><string>a</string><true/></dict>", "expected <key>, found <string>"),
        ("<dict><key>a</key><key>b</key></dict>", "<key> outside a dictionary"),
        ("<array></dict>", "unexpected </dict>"), ("<True/>", "<True> is no element"),
        ("<>", "<> is no element"), ("text", "unexpected text"), ("<!ELEMENT a>", "no element"),
    ])
    func `What is none of it is refused with its line`(_ xml: String, _ message: String) {
        let told = Self.element("\n\n" + xml)
        #expect(told.hasPrefix("line 4 of the XML property list: "), "\(told)")
        #expect(told.contains(message), "\(told)")
    }

    @Test func `What stands around the list does not matter, and nothing may follow it`() {
        var archive = ArchiveText()
        let root = archive.string("x")
        let bytes = archive.bytes(top: ["root": root])
        let text = String(decoding: bytes, as: UTF8.self)
        let list = String(text[text.firstRange(of: "<plist")!.lowerBound...])
        let kind = "<!DOCTYPE plist PUBLIC \"-//Apple//DTD\" \"http://www.apple.com/a.dtd\">"
        for before in [
            "", "\u{FEFF}", "\r\n\t ", "<?xml version='1.0'?>" + kind, "<!-- a > b -->\n" + kind,
        ] {
            #expect(outcome(Array((before + list).utf8)) == "\"x\"", "\(before)")
        }
        #expect(outcome(Array(list.replacing("</plist>", with: "").utf8)).contains("</plist>"))
        let twice = list.replacing("</plist>", with: "<dict/></plist>")
        #expect(outcome(Array(twice.utf8)).contains("expected </plist>"))
    }

    @Test func `UTF-16 is read in either order, with a byte order mark or without`() {
        var archive = ArchiveText()
        let root = archive.string("Kiosk 🍣 é")
        let bytes = archive.bytes(top: ["root": root])
        let units = Array(String(decoding: bytes, as: UTF8.self).utf16)
        for isBigEndian in [true, false] {
            func encoded(_ units: [UInt16]) -> [UInt8] {
                units.flatMap { unit in
                    let bytes = [UInt8(unit >> 8), UInt8(unit & 255)]
                    return isBigEndian ? bytes : bytes.reversed()
                }
            }
            for text in [encoded([0xFEFF] + units), encoded(units)] {
                #expect(outcome(text) == "\"Kiosk 🍣 é\"")
                #expect(outcome(text.dropLast()) == "the XML in UTF-16 is cut off")
                #expect(outcome(text.dropLast(2)).contains("line 2 of the XML"))
            }
        }
    }

    @Test func `Dates of the calendar are those of Foundation`() throws {
        let formatter = ISO8601DateFormatter()
        var random = SplitMix64(seed: 20_261_127)
        // Days of four centuries around each boundary, and any second of 0001 to 9999.
        let days = [0, 951_696_000, 951_782_400, 951_868_800, 4_107_456_000, 4_107_542_400]
        var seconds = (-2...2).flatMap { day in days.map { $0 + 86_400 * day } } + [-1, 59, 86_399]
        // Foundation's calendar has Julian dates before 1582.
        seconds += (0..<1_000).map { _ in -12_000_000_000 + random.below(265_000_000_000) }
        var archive = ArchiveText()
        let dates = seconds.map {
            let date = formatter.string(from: Date(timeIntervalSince1970: TimeInterval($0)))
            return archive.add("<date>\(date)</date>")
        }
        let root = archive.list(dates)
        let found = try JSONValue(parsing: outcome(archive.bytes(top: ["root": root])))
        for (index, second) in seconds.enumerated() where found[index]?.int != second * 1_000 {
            Issue.record("\(second) seconds are \(found[index]?.text ?? "nothing")")
        }
    }
}
