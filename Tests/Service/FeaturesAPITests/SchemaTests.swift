import JSONText
import Objects
import TestSupport
import Testing
import WebExchange

@testable import GISSites

/// What a collection's schemas tell, and that its features are as they tell.
@Suite struct SchemaTests {
    private static let shops = [
        #"{"_id":"s1","name":"A","n":1,"open":true,"tags":["x"],"at":{"_type":"point","lat":35.5,"lon":139.5},"address":{"city":"Tokyo","zip":5},"mixed":1,"far":2147483648,"near":-2147483648}"#,
        #"{"_id":"s2","name":"B","n":2.5,"at":{"_type":"point","lat":-10,"lon":20},"base":{"_type":"point","lat":1,"lon":2},"mixed":"x","none":null,"near":2147483647}"#,
        #"{"_id":"s3","name":"C"}"#,
    ]

    @Test func `The schema has every field of the objects, with null beside its types`()
        async throws
    {
        try await TestSite.with("shops", Self.shops) { site, _ in
            let schema = try await site.json("/ogc/collections/shops/schema")
            let properties = schema["properties"]!["properties"]!["properties"]!
            let types = properties.members.map { member in
                let words = member.value["type"]?.array?.map { $0.string! } ?? ["any"]
                return "\(member.name) \(words.joined(separator: " "))"
            }
            #expect(
                types == [
                    "_created number null", "_modified number null", "_version integer null",
                    "name string null", "n number null", "open boolean null", "tags array null",
                    "address object null", "mixed integer string null", "far number null",
                    "near integer null", "base object null", "none any",
                ])
            let wide = properties.members.filter { $0.value["multipleOf"] != nil }.map(\.name)
            #expect(wide == ["_created", "_modified", "far"])
        }
    }

    /// GDAL finds `~0number` by this very name, all others by what it spells: `~number`.
    @Test func `A type is a single word where GDAL looks for it`() async throws {
        try await TestSite.with("shops", Self.shops) { site, _ in
            let schema = try await site.json("/ogc/collections/shops/schema")
            for property in schema["properties"]!["properties"]!["properties"]!.members {
                let types = property.value["type"]?.array ?? []
                let reference = property.value["$ref"]?.string
                #expect((reference != nil) == (types.count == 2), "\(property.name)")
                guard let name = reference?.trimmingPrefix("#/$defs/") else { continue }
                let definitions = schema["$defs"]!
                #expect(definitions[String(name)]?["type"] == types[0])
                #expect(definitions[String(name).replacing("~0", with: "~")] == .object([]))
            }
        }
    }

    @Test func `Every queryable has a type, or several`() async throws {
        try await TestSite.with("shops", Self.shops) { site, _ in
            let queryables = try await site.json("/ogc/collections/shops/queryables")
            let ids = queryables["queryables"]!.array!.map { $0["id"]!.string! }
            #expect(queryables["properties"]!.names == ["at"] + ids)
            let types = queryables["properties"]!.members.dropFirst().map { member in
                let words = (member.value["anyOf"]?.array ?? [member.value]).map {
                    $0["type"]?.string ?? "any"
                }
                return "\(member.name) \(words.joined(separator: " "))"
            }
            #expect(
                types == [
                    "_id string", "_created number", "_modified number", "_version integer",
                    "_owner string", "_dataType string", "_expiresAt number", "name string",
                    "n number", "open boolean", "address.city string", "address.zip integer",
                    "mixed integer string", "far number", "near integer",
                ])
        }
    }

    /// QGIS takes the type of a field from the first ten features, and shows no others.
    @Test func `A whole number is written as a decimal where the field has decimals too`()
        async throws
    {
        var objects = (0..<12).map {
            #"{"_id":"o\#($0)","d":\#($0),"i":\#($0),"p":{"_type":"point","lat":0,"lon":0}}"#
        }
        objects.append(
            #"{"_id":"o12","d":0.5,"i":1.0,"e":1e3,"p":{"_type":"point","lat":0,"lon":0}}"#)
        objects.append(#"{"_id":"o13","d":-7,"e":2.5,"p":{"_type":"point","lat":0,"lon":0}}"#)
        let stored = objects
        try await TestSite.with("many", stored) { site, _ in
            let features = try await site.json("/ogc/collections/many/items").features
            let decimals = features.map { $0["properties"]!["d"]!.text }
            #expect(decimals == (0..<12).map { "\($0).0" } + ["0.5", "-7.0"])
            #expect(features[12]["properties"]?["e"]?.text == "1000.0")
            // The rest is spelled as it was stored.
            #expect(features[3]["properties"]?["i"]?.text == "3")
            #expect(features[12]["properties"]?["i"]?.text == "1.0")
            let one = try await site.json("/ogc/collections/many/items/o13")
            #expect(one["properties"]?["d"]?.text == "-7.0")
        }
    }

    @Test func `Features are as the schema tells`() async throws {
        for seed in Seeds.first(4) {
            var random = SplitMix64(seed: seed)
            let generator = ObjectGenerator(&random)
            let place = #""place":{"_type":"point","lat":1,"lon":2}"#
            let objects = (0..<60).map { number in
                let document = generator.document(&random).stored.dropFirst()
                return #"{"_id":"o\#(number)",\#(place)\#(document == "}" ? "" : ",")\#(document)"#
            }
            try await TestSite.with("mixed", objects) { site, _ in
                let collection = "/ogc/collections/mixed@place"
                let schema = try await site.json("\(collection)/schema")["properties"]!
                let features = try await site.json("\(collection)/items").features
                #expect(features.count == objects.count)
                for property in schema["properties"]!["properties"]!.members {
                    for feature in features {
                        let value = try #require(feature["properties"]?[property.name])
                        #expect(
                            Self.satisfies(value, property.value),
                            "seed \(seed): \(property.name) \(value.text)")
                    }
                }
            }
        }
    }

    private static func satisfies(_ value: JSONValue, _ schema: JSONValue) -> Bool {
        guard let types = schema["type"]?.array?.map({ $0.string! }) else { return true }
        let isWhole = value.number?.isWhole ?? false
        if schema["multipleOf"] != nil, value.number != nil, !isWhole { return false }
        return types.contains { type in
            switch type {
            case "null": value == .null
            case "boolean": value.bool != nil
            case "integer": isWhole
            case "number": value.number != nil
            case "string": value.string != nil
            case "array": value.array != nil
            case "object": value.isObject
            default: false
            }
        }
    }
}

extension JSONValue {
    fileprivate var isObject: Bool { if case .object = self { true } else { false } }
}
