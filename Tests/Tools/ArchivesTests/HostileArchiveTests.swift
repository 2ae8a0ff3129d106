import Archives
import Foundation
import JSONText
import TestSupport
import Testing

/// Files that were made to hurt: each gets an answer, in bounded time and memory.
@Suite struct HostileArchiveTests {
    private static func binary(_ body: [String: Any] = sample) -> [UInt8] {
        let archiver = NSKeyedArchiver(requiringSecureCoding: false)
        archiver.encode(NSDictionary(dictionary: body), forKey: "root")
        archiver.finishEncoding()
        return Array(archiver.encodedData)
    }

    private static var sample: [String: Any] {
        [
            "name": "Kiosk", "list": [1, 2.5, true, "é"], "data": Data([1, 2, 3]), "date": Date(),
        ]
    }

    @Test func `Every cut of a file is refused`() {
        for bytes in [Self.binary(), Self.xml()] {
            #expect(outcome(bytes).hasPrefix("{"))
            for count in 0..<bytes.count - 1 {
                #expect(!outcome(Array(bytes[..<count])).hasPrefix("{"), "\(count)")
            }
        }
    }

    private static func xml() -> [UInt8] {
        var archive = ArchiveText()
        let name = archive.string("n")
        let root = archive.instance(["Thing", "NSObject"], ["v": ArchiveText.uid(name)])
        return archive.bytes(top: ["root": root])
    }

    @Test func `Changed bytes never end the process`() {
        var random = SplitMix64(seed: 6)
        for bytes in [Self.binary(), Self.xml()] {
            for _ in 0..<4000 {
                var changed = bytes
                for _ in 0...random.below(4) {
                    changed[random.below(changed.count)] = UInt8(truncatingIfNeeded: random.next())
                }
                _ = outcome(changed)
            }
        }
    }

    @Test func `Doubling references are refused, not followed`() {
        var archive = ArchiveText()
        var last = archive.string("ha")
        for _ in 0..<60 { last = archive.list([last, last]) }
        #expect(outcome(archive.bytes(top: ["root": last])).contains("values when written out"))
        for _ in 0..<10 { last = archive.list([last, last]) }
        var limits = ArchiveLimits()
        (limits.values, limits.objectValues) = (.max, .max)
        let unlimited = outcome(archive.bytes(top: ["root": last]), limits: limits)
        #expect(unlimited.contains("values when written out"))
    }

    @Test func `Nesting is followed down to its limit`() {
        func nested(_ levels: Int, _ limits: ArchiveLimits) -> String {
            var archive = ArchiveText()
            var last = archive.string("x")
            for _ in 0..<levels { last = archive.list([last]) }
            return outcome(archive.bytes(top: ["root": last]), limits: limits)
        }
        var limits = ArchiveLimits()
        limits.depth = 20
        #expect(nested(19, limits).hasPrefix("["))
        #expect(nested(20, limits).hasPrefix("["))
        #expect(nested(21, limits).contains("deeper than 20"))
        #expect(nested(100_000, ArchiveLimits()).contains("deeper than 200"))
        // What is reused brings its own levels along: each list here is 150 around the one before.
        var archive = ArchiveText()
        var (all, last) = ([Int](), archive.string("x"))
        for _ in 0..<100 {
            for _ in 0..<150 { last = archive.list([last]) }
            all.append(last)
        }
        let reused = archive.list(all)
        #expect(outcome(archive.bytes(top: ["root": reused])).contains("deeper than 200"))
        // References that lead to nothing but references.
        var chain = ArchiveText()
        var link = chain.string("x")
        for _ in 0..<100_000 {
            link = chain.instance(["NSMutableString"], ["NS.string": ArchiveText.uid(link)])
        }
        #expect(outcome(chain.bytes(top: ["root": link])).contains("deeper than 200"))
        // A key, and what stands for a string, made of containers without references.
        for (name, before, after) in [
            (
                "NSDictionary", "<key>NS.keys</key><array>",
                "</array><key>NS.objects</key><array><true/></array>"
            ), ("NSString", "<key>NS.string</key>", ""),
        ] {
            var archive = ArchiveText()
            let known = archive.instance([name], [:]) - 1
            let start = "<dict><key>$class</key>\(ArchiveText.uid(known))" + before
            let nested =
                String(repeating: start, count: 5_000) + "<string>x</string>"
                + String(repeating: after + "</dict>", count: 5_000)
            let root = archive.add(nested)
            let told = outcome(archive.bytes(top: ["root": root]))
            #expect(told.contains("deeper than 200"), "\(told)")
        }
        let deep = String(repeating: "<array>", count: 1_000_000)
        #expect(outcome(Array("<plist>\(deep)".utf8)).contains("cut off"))
    }

    @Test func `A container that claims more elements than the file has is refused`() {
        // bplist00, an array of 2^56 elements, its place in the table, the trailer.
        var bytes = Array("bplist00".utf8) + [0xAF, 0x13, 1, 0, 0, 0, 0, 0, 0, 0] + [8]
        bytes += [0, 0, 0, 0, 0, 0, 1, 1] + [0, 0, 0, 0, 0, 0, 0, 1]
        bytes += [0, 0, 0, 0, 0, 0, 0, 0] + [0, 0, 0, 0, 0, 0, 0, 18]
        #expect(outcome(bytes).contains("longer than the file"), "\(outcome(bytes))")
    }

    @Test func `Values are counted, at the limit and beyond`() {
        var archive = ArchiveText()
        let element = archive.string("x")
        let root = archive.list([archive.list(Array(repeating: element, count: 100))])
        let bytes = archive.bytes(top: ["root": root])
        var limits = ArchiveLimits()
        limits.objectValues = 101
        #expect(outcome(bytes, limits: limits).hasPrefix("["))
        limits.objectValues = 99
        #expect(outcome(bytes, limits: limits).contains("root[0]"))
        limits = ArchiveLimits()
        limits.values = 100
        #expect(outcome(bytes, limits: limits).contains("more values than are allowed"))
        limits = ArchiveLimits()
        limits.fileBytes = bytes.count
        #expect(outcome(bytes, limits: limits).hasPrefix("["))
        limits.fileBytes = bytes.count - 1
        #expect(outcome(bytes, limits: limits).contains("has more than"))
    }

    /// Values for everything together, and a text that counts for more than 1,000 of them.
    private static var fewer: ArchiveLimits {
        var limits = ArchiveLimits()
        limits.values = 1_000_000
        return limits
    }
    private static let long = String(repeating: "x", count: 100_000)

    @Test func `Long strings that are named again and again are refused, not written out`() {
        var archive = ArchiveText()
        let text = archive.string(Self.long)
        let data = archive.add("<data>\(Data(Self.long.utf8).base64EncodedString())</data>")
        for value in [text, data] {
            let outermost = archive.list(Array(repeating: value, count: 1_000))
            let inner = archive.list([archive.list(Array(repeating: value, count: 100))])
            for root in [outermost, inner] {
                let outcome = outcome(archive.bytes(top: ["root": root]), limits: Self.fewer)
                #expect(outcome.suffix(23) == "values when written out")
            }
        }
    }

    @Test func `Long keys and strings made of others count by their length`() {
        var archive = ArchiveText()
        let one = archive.string("1")
        let thing = archive.instance(["Thing"], [Self.long: ArchiveText.uid(one)])
        let things = archive.list([archive.list(Array(repeating: thing, count: 100))])
        let keys = outcome(archive.bytes(top: ["root": things]), limits: Self.fewer)
        #expect(keys.suffix(23) == "values when written out")
        let base = archive.string("http://a/" + Self.long + "/")
        let list = archive.list(
            (0..<1_000).map { _ in
                archive.instance(
                    ["NSURL"],
                    ["NS.base": ArchiveText.uid(base), "NS.relative": ArchiveText.uid(one)])
            })
        let urls = outcome(archive.bytes(top: ["root": list]), limits: Self.fewer)
        #expect(urls.suffix(28) == "more values than are allowed")
    }

    @Test func `A key loses the sign it was archived with whatever follows it`() {
        var archive = ArchiveText()
        let root = archive.instance(["Thing"], ["$$\u{301}": "<integer>1</integer>"])
        #expect(outcome(archive.bytes(top: ["root": root])) == "{\"$\u{301}\":1}")
    }
}
