import Interchange
import JSONText
import Testing

/// `export --format geojson`, and `load` of what it has written.
@Suite struct GeoJSONRoundTripTests {
    private static func point(_ random: inout SplitMix) -> String {
        let latitude = ["-90", "0.0", "1.50", "89.999999", "-1e-3"].randomElement(using: &random)!
        let longitude = ["180", "-180.0", "0", "-0.0", "12.3"].randomElement(using: &random)!
        return #"{"_type":"point","lat":\#(latitude),"lon":\#(longitude)}"#
    }

    private static func value(_ random: inout SplitMix, depth: Int = 0) -> String {
        switch Int.random(in: 0...(depth < 3 ? 8 : 5), using: &random) {
        case 0: return "null"
        case 1: return Bool.random(using: &random) ? "true" : "false"
        case 2: return ["0", "-1.50", "1e3", "12345678901234567890"].randomElement(using: &random)!
        case 3: return #""\u00e9 \"x\" ]}\\ \n""#
        case 4: return #""漢""#
        case 5: return point(&random)
        case 6, 7:
            let elements = (0..<Int.random(in: 0...3, using: &random)).map { _ in
                value(&random, depth: depth + 1)
            }
            return "[\(elements.joined(separator: ","))]"
        default: return object(&random, depth: depth + 1)
        }
    }

    /// Members whose names could be taken for those of a Feature or of its geometry.
    private static func object(_ random: inout SplitMix, depth: Int = 0) -> String {
        let names = [
            "type", "id", "geometry", "properties", "bbox", "coordinates", "features", "altitude",
            "a", "", "é",
        ]
        let members = names.filter { _ in Int.random(in: 0...2, using: &random) == 0 }.map {
            "\"\($0)\":\(value(&random, depth: depth))"
        }
        return "{\(members.joined(separator: ","))}"
    }

    private static func record(_ random: inout SplitMix, _ number: Int) -> String {
        var members = String(object(&random).dropFirst().dropLast())
        if !members.isEmpty { members = "," + members }
        let points = (0..<Int.random(in: 0...3, using: &random)).map { _ in point(&random) }
        let location = [
            "", ",\"at\":\(point(&random))", ",\"at\":[\(points.joined(separator: ","))]",
            ",\"at\":[1,\(point(&random)),\"x\"]", ",\"at\":\"here\"", ",\"at\":null",
        ].randomElement(using: &random)!
        return "{\"_id\":\"id-\(number)\"\(members)\(location)}"
    }

    @Test(arguments: 1...100 as ClosedRange<UInt64>)
    func `What is exported with a field as geometry loads back the same`(_ seed: UInt64) throws {
        var random = SplitMix(state: seed)
        let objects = (0..<10).map { Self.record(&random, $0) }
        var (writing, reading) = (WritingOptions(), ReadingOptions())
        (writing.pointField, reading.mapping.pointField) = ("at", "at")
        let text = try written(.geojson, objects, writing)
        // A file of one object a line is read as the collection of them is.
        let features = text.split(separator: "\n").dropFirst().dropLast()
            .map { $0.hasSuffix(",") ? $0.dropLast() : $0 }
        for text in [text, features.joined(separator: "\n")] {
            let found = try lines(text, ".geojson", options: reading)
            #expect(found.count == objects.count, "seed \(seed)")
            for (number, (line, object)) in zip(1..., zip(found, objects)) {
                let prefix = "\(number): "
                #expect(line.hasPrefix(prefix), "seed \(seed): \(line)")
                let loaded = try Self.members(String(line.dropFirst(prefix.count)))
                #expect(loaded == (try Self.members(object)), "seed \(seed): \(line)\n\(object)")
            }
        }
    }

    /// The members in the order of their names, each as it is spelled.
    private static func members(_ object: String) throws -> [String] {
        try JSONParser.reading(Array(object.utf8)) { view in
            view.members.map { String(decoding: $0.text, as: UTF8.self) }.sorted()
        }
    }
}
