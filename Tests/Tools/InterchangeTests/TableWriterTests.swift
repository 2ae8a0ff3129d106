import Interchange
import Testing

@Suite struct TableWriterTests {
    private func table(_ objects: [String], width: Int? = nil, columns: [String]? = nil) throws
        -> [String]
    {
        var options = WritingOptions()
        options.width = width
        options.columns = columns
        return try written(.table, objects, options).split(separator: "\n").map(String.init)
    }

    @Test("Wide characters take two columns; numbers and lengths stand right; distances have units")
    func alignment() throws {
        let found = try table([
            #"{"_id":"RJTT","_version":1,"name":"羽田空港","n":4,"_calculated":{"distance":14432.1}}"#,
            #"{"_id":"RJTO","name":"Oshima","n":12,"_calculated":{"distance":523.44}}"#,
        ])
        #expect(
            found == [
                "_id   name       n  distance", "RJTT  羽田空港   4   14.4 km",
                "RJTO  Oshima    12   523.4 m",
            ])
    }

    @Test(
        "Lengths are metres below one kilometre and never 1000.0 m",
        arguments: [
            ("0", "0.0 m"), ("999.94", "999.9 m"), ("999.96", "1.0 km"), ("1000", "1.0 km"),
            ("20015086.796", "20015.1 km"), ("-1", "-1"),
        ])
    func lengths(_ meters: String, _ shown: String) throws {
        #expect(try table(["{\"_calculated\":{\"d\":\(meters)}}"])[1].trimmed == shown)
    }

    @Test("GeoPoints are LAT, LON; other objects and arrays JSON; null and missing nothing")
    func values() throws {
        let found = try table([
            #"{"p":{"_type":"point","lat":1.50,"lon":2},"l":[1,{"a":2}],"z":null,"t":true}"#
        ])
        #expect(found[1] == "1.50, 2  [1,{\"a\":2}]     true")
    }

    @Test("Nothing in a value is obeyed by the terminal: control characters do not pass")
    func controls() throws {
        let found = try table([#"{"a":"x\u001b[31m\ny\u0000\u202Ez"}"#])
        #expect(found[1] == "x\u{FFFD}[31m y\u{FFFD}\u{FFFD}z")
    }

    @Test("No line is wider than the terminal; the widest columns are cut first, with an ellipsis")
    func cutting() throws {
        let object =
            #"{"_id":"ab","long":"\#(String(repeating: "漢", count: 60))","b":"\#(String(repeating: "x", count: 30))"}"#
        let found = try table([object], width: 40)
        #expect(found[1].hasPrefix("ab   漢漢漢") && found[1].contains("…"))
        #expect(found.allSatisfy { $0.unicodeScalars.reduce(0) { $0 + ($1 == "漢" ? 2 : 1) } <= 40 })
        #expect(
            try table([#"{"a":"\#(String(repeating: "x", count: 40))"}"#], width: 40)[1].contains(
                "…") == false)
        #expect(
            try table([#"{"a":"\#(String(repeating: "x", count: 41))"}"#], width: 40)[1].hasSuffix(
                "x…"))
    }

    @Test("Columns without room are left out from the right, and named")
    func leavingOut() throws {
        let members = (1...20).map { "\"column\($0)\":\"value number \($0)\"" }.joined(
            separator: ",")
        let found = try table(["{\(members)}"], width: 60)
        #expect(found[0].hasPrefix("column1") && !found[0].contains("column20"))
        #expect(found.last?.hasPrefix("(no room for: column") == true)
        #expect(found.last?.contains("column20") == true)
    }

    @Test("A distance is the last column to be left out for want of room")
    func keepingDistances() throws {
        let members = (1...20).map { "\"column\($0)\":\"value number \($0)\"" }.joined(
            separator: ",")
        let object = "{\"_id\":\"ab\",\(members),\"_calculated\":{\"d\":1500}}"
        let found = try table([object], width: 40)
        #expect(found[0].hasPrefix("_id       d  column1"))
        #expect(found[1].hasPrefix("ab   1.5 km  "))
    }

    @Test("With a list of columns exactly these are shown, predefined ones too, and the distances")
    func chosen() throws {
        let object = #"{"_id":"ab","_version":3,"a":{"b":5},"_calculated":{"d":1500}}"#
        #expect(
            try table([object], columns: ["a.b", "_version"]) == [
                "a.b  _version       d", "  5         3  1.5 km",
            ])
    }

    @Test("A distance called as a field has its whole name in the header")
    func sameName() throws {
        #expect(try table([#"{"d":1,"_calculated":{"d":2}}"#])[0] == "d  _calculated.d")
    }

    @Test("The header is bold only when the terminal shows it")
    func bold() throws {
        var options = WritingOptions()
        options.isBold = true
        #expect(try written(.table, ["{\"a\":\"x\"}"], options) == "\u{1B}[1ma\u{1B}[0m\nx\n")
    }

    @Test("Later objects can bring new columns, and earlier rows stay empty there")
    func newColumns() throws {
        #expect(try table([#"{"a":"x"}"#, #"{"b":"y"}"#]) == ["a  b", "x", "   y"])
    }
}

extension String {
    fileprivate var trimmed: String { String(drop { $0 == " " }) }
}
