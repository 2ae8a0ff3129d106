import Interchange
import JSONText
import Testing

/// Events of a watch on one line.
@Suite struct EventLineTests {
    private static func line(
        _ sign: String, _ object: String, place: Int? = nil, previous: Int? = nil,
        fields: [String]? = nil, reason: String? = nil
    ) throws -> String {
        var line = EventLine(
            sign, ids: ["c7"], place: place, previous: previous, fields: fields)
        try JSONParser.reading(Array(object.utf8)) {
            line.add($0, withDistances: reason == nil)
        }
        if let reason { line.add(reason: reason) }
        return line.text
    }

    private static let ben =
        #"{"_id":"c7","_version":3,"name":"Ben","free":true,"n":1.50,"tags":["a"],"at":{"_type":"point","lat":1,"lon":2},"none":null,"_calculated":{"d":1999.9}}"#

    @Test func `Strings, numbers and booleans are shown, then the distance in whole metres`()
        throws
    {
        #expect(try Self.line("+", Self.ben) == "+ c7 Ben true 1.50 1,999 m")
    }

    @Test func `Fields that are named are shown, whatever they are`() throws {
        let line = try Self.line("~", Self.ben, fields: ["tags", "at", "none", "missing"])
        #expect(line == #"~ c7 ["a"] 1, 2 1,999 m"#)
    }

    @Test func `What left has a reason and no distance`() throws {
        let line = try Self.line("-", Self.ben, fields: ["name"], reason: "moved")
        #expect(line == "- c7 Ben moved")
    }

    @Test func `In a ranking a line has the places, from 1`() throws {
        let object = #"{"_id":"c7"}"#
        #expect(try Self.line("+", object, place: 0) == "+ #1 c7")
        #expect(try Self.line("~", object, place: 0, previous: 2) == "~ #3→#1 c7")
        #expect(try Self.line("~", object, place: 2, previous: 2) == "~ #3 c7")
        #expect(try Self.line("-", object, previous: 4, reason: "deleted") == "- #5 c7 deleted")
    }

    @Test func `Several distances have their names, thousands their commas`() throws {
        let object = #"{"_id":"c7","_calculated":{"along":12345678.9,"distance":0.4}}"#
        #expect(try Self.line("+", object) == "+ c7 along 12,345,678 m distance 0 m")
        let exact = #"{"_id":"c7","_calculated":{"d":1000}}"#
        #expect(try Self.line("+", exact) == "+ c7 1,000 m")
    }

    @Test func `A line stays one line, and controls no terminal`() throws {
        let object = "{\"_id\":\"c7\",\"name\":\"a\\nb\\u001b[31m\\u202e\"}"
        let line = try Self.line("+", object)
        #expect(!line.unicodeScalars.contains { $0.value < 0x20 || $0.value == 0x202E }, "\(line)")
        #expect(line.hasPrefix("+ c7 a b"))
    }
}
