import Foundation
import GeoBucketClient
import Testing

/// `JSONValue` in models of any coder.
@Suite struct JSONValueCodingTests {
    private struct Model: Codable, Equatable {
        var json: JSONValue
        var others: [JSONValue]
        var none: JSONValue?
    }

    private static let model = Model(
        json: .object([
            "a": .array([.null, .bool(true), .int(-7), .double(1.5), .string("é\n")]),
            "b": .object([:]), "c": .array([]), "d": .number(.unsigned(.max)), "e": .double(1e300),
            "f": .int(0), "g": .int(1), "h": .double(0.30000000000000004),
        ]),
        others: [.null, .int(3)], none: nil)

    @Test func `Foundation's coder of JSON writes it and reads it back`() throws {
        var model = Self.model
        let digits = try JSONValue(parsing: "0.1234567890123456789")
        model.others.append(digits)
        let data = try JSONEncoder().encode(model)
        #expect(try JSONDecoder().decode(Model.self, from: data) == model)
        let text = String(decoding: try JSONEncoder().encode(digits), as: UTF8.self)
        #expect(text == digits.text)
    }

    @Test func `Ours takes it as it is`() throws {
        let value = try JSONValue(
            parsing: #"{"json":{"b":1,"a":12345678901234567890123},"others":[]}"#)
        let model = try ModelDecoder.decode(Model.self, from: value)
        #expect(model.json.text == #"{"b":1,"a":12345678901234567890123}"#)
        #expect(try ModelEncoder.encode(model) == value)
    }

    @Test func `A property list, which has no null, takes the rest`() throws {
        var model = Self.model
        model.json = .object(["a": .array([.bool(true), .int(-7), .double(1.5), .string("é\n")])])
        model.others = [.int(3)]
        let data = try PropertyListEncoder().encode(model)
        #expect(try PropertyListDecoder().decode(Model.self, from: data) == model)
    }
}
