import Archives
import JSONText
import Testing

/// The objects of an archive as a bucket takes them.
@Suite struct ArchivedRecordsTests {
    /// Each record's document, or why there is none; the failure of the whole file alone.
    private static func records(
        _ bytes: [UInt8], _ change: (inout ArchivedRecords.Options) -> Void = { _ in }
    ) -> [String] {
        var options = ArchivedRecords.Options()
        change(&options)
        do throws(ArchiveFailure) {
            let records = try ArchivedRecords(bytes, options: options)
            return (0..<records.count).map { index in
                do throws(ArchiveFailure) {
                    return try records.document(at: index).text
                } catch {
                    return error.description
                }
            }
        } catch {
            return ["whole: \(error)"]
        }
    }

    private static func shop(
        _ archive: inout ArchiveText, _ members: KeyValuePairs<String, String>
    ) -> Int { archive.instance(["MYShop", "NSObject"], members) }

    // MARK: One bad element

    @Test func `A bad element leaves the others as they are`() {
        var archive = ArchiveText()
        let shared = archive.list([archive.string("x")])
        let good = Self.shop(&archive, ["n": "<integer>1</integer>", "s": ArchiveText.uid(shared)])
        let lost = Self.shop(&archive, ["n": ArchiveText.uid(999)])
        let nan = Self.shop(&archive, ["deep": ArchiveText.uid(archive.count + 1)])
        _ = Self.shop(&archive, ["n": "<real>nan</real>", "s": ArchiveText.uid(shared)])
        let circle = Self.shop(&archive, ["me": ArchiveText.uid(archive.count)])
        let last = Self.shop(&archive, ["n": "<integer>2</integer>", "s": ArchiveText.uid(shared)])
        let root = archive.list([good, lost, nan, 0, circle, last])
        #expect(
            Self.records(archive.bytes(top: ["root": root])) == [
                #"{"n":1,"s":["x"]}"#,
                "root[1].n: refers to object 999 of \(archive.count)",
                "root[2].deep.n: nan has no JSON spelling", "root[3]: is nil",
                "root[4].me: refers back to root[4]", #"{"n":2,"s":["x"]}"#,
            ])
    }

    @Test func `What costs more than all may is no matter of one element`() {
        var archive = ArchiveText()
        let text = archive.string(String(repeating: "x", count: 6_400))
        let root = archive.list(
            (0..<9).map { Self.shop(&archive, ["n\($0)": ArchiveText.uid(text)]) })
        let bytes = archive.bytes(top: ["root": root])
        #expect(Self.records(bytes).count == 9)
        #expect(
            Self.records(bytes) { $0.archive.limits.values = 120 } == [
                "whole: root[0].n0: reading it takes more values than are allowed"
            ])
        #expect(
            Self.records(bytes) { $0.archive.limits.values = 500 } == [
                "whole: root[4]: has more than 500 values when written out"
            ])
        #expect(
            Self.records(bytes) { $0.archive.limits.objectValues = 100 }
                == (0..<9).map { "root[\($0)].n\($0): has more than 100 values when written out" })
    }

    // MARK: What is no object

    @Test func `What is no object by itself becomes one by a flag`() {
        var archive = ArchiveText()
        let text = archive.string("x")
        let bytes = archive.bytes(top: ["root": text])
        #expect(
            Self.records(bytes)
                == ["root: is no object but a string; --value FIELD makes it a field of one"])
        #expect(Self.records(bytes) { $0.valueField = "name" } == [#"{"name":"x"}"#])
        let inner = archive.list([text])
        let shop = Self.shop(&archive, ["n": "<integer>1</integer>"])
        let five = archive.add("<integer>5</integer>")
        let mixed = archive.list([text, inner, shop, five])
        #expect(
            Self.records(archive.bytes(top: ["root": mixed])) { $0.valueField = "v" }
                == [#"{"v":"x"}"#, #"{"v":["x"]}"#, #"{"n":1}"#, #"{"v":5}"#])
        #expect(
            Self.records(archive.bytes(top: ["root": five])) {
                ($0.valueField, $0.idField) = ("n", "n")
            } == [#"{"_id":"5","n":5}"#])
        let real = archive.add("<real>5</real>")
        #expect(
            Self.records(archive.bytes(top: ["root": real])) {
                ($0.valueField, $0.idField) = ("n", "n")
            } == [#"{"_id":"5","n":5.0}"#])
    }

    // MARK: Underscores

    @Test func `Underscores before names are taken off by a flag, at any depth`() {
        var archive = ArchiveText()
        let address = archive.instance(
            ["MYAddress", "NSObject"], ["_city": "<string>Oslo</string>"])
        let place = archive.instance(
            ["CLLocation", "NSObject"],
            [
                "kCLLocationCodingKeyCoordinateLatitude": "<real>1</real>",
                "kCLLocationCodingKeyCoordinateLongitude": "<real>2</real>",
            ])
        let addresses = archive.list([address])
        let root = Self.shop(
            &archive,
            [
                "_id": "<integer>7</integer>", "__name": "<string>x</string>",
                "_owner": "<string>me</string>", "plain_": "<true/>",
                "_\u{301}mark": "<true/>",
                "_all": ArchiveText.uid(addresses), "_place": ArchiveText.uid(place),
            ])
        let bytes = archive.bytes(top: ["root": root])
        let stripped =
            #"{"id":7,"name":"x","owner":"me","plain_":true,"\#u{301}mark":true,"all":[{"city":"Oslo"}],"place":{"_type":"point","lat":1.0,"lon":2.0}}"#
        #expect(Self.records(bytes) { $0.stripsUnderscores = true } == [stripped])
        #expect(Self.records(bytes)[0].contains("\"__name\""))
        #expect(
            Self.records(bytes) {
                $0.stripsUnderscores = true
                $0.idField = "id"
            }[0].hasPrefix(#"{"_id":"7","id":7"#))
    }

    @Test(arguments: [
        ("_a", "a", "root.in._a: cannot become a, which is there too"),
        ("a", "_a", "root.in._a: cannot become a, which is there too"),
        ("_a", "__a", "root.in.__a: cannot become a, which is there too"),
        ("_", "a", "root.in._: is a name of underscores alone"),
    ])
    func `Names that are then the same, or empty, are refused`(
        _ first: String, _ second: String, _ message: String
    ) {
        var archive = ArchiveText()
        let root = Self.shop(
            &archive,
            ["in": "<dict><key>\(first)</key><true/><key>\(second)</key><true/></dict>"])
        #expect(
            Self.records(archive.bytes(top: ["root": root])) { $0.stripsUnderscores = true }
                == [message])
    }
}
