import Foundation
import Interchange
import JSONText
import Testing

/// A load of an export gives equal objects, in every format.
@Suite struct RoundTripTests {
    /// A format as `export` writes it.
    enum Form: String, CaseIterable, Sendable {
        case ndjson, geojson, columns, wkt, geojsonCells

        var format: OutputFormat {
            switch self {
            case .ndjson: .ndjson
            case .geojson: .geojson
            case .columns, .wkt, .geojsonCells: .csv
            }
        }

        var isTable: Bool { format == .csv }

        var options: WritingOptions {
            var options = WritingOptions()
            if self == .wkt { options.placeForm = .wkt }
            if self == .geojsonCells { options.placeForm = .geojson }
            return options
        }
    }

    // MARK: Comparison

    /// A value whose members have an order, and whose numbers have one spelling.
    private static func normal(_ value: JSONValue) -> String {
        switch value {
        case .object(let members):
            let parts = members.map { "\(JSONValue.string($0.name).text):\(normal($0.value))" }
            return "{\(parts.sorted().joined(separator: ","))}"
        case .array(let elements): return "[\(elements.map(normal).joined(separator: ","))]"
        default: return value.double.map { "\($0)" } ?? value.text
        }
    }

    private static func check(_ objects: [String], as form: Form, _ what: String) throws {
        let text = try written(form.format, objects, form.options)
        let found = try lines(text, "." + form.format.rawValue)
        #expect(found.count == objects.count, "\(what), \(form)")
        for (line, object) in zip(found, objects) {
            let loaded = try #require(line.firstIndex(of: "{"), "\(what), \(form): \(line)")
            let (a, b) = (
                Self.normal(try JSONValue(parsing: String(line[loaded...]))),
                Self.normal(try JSONValue(parsing: object))
            )
            #expect(a == b, "\(what), \(form)")
            if a != b { return }
        }
    }

    // MARK: Random objects

    private static func point(_ random: inout SplitMix) -> String {
        let latitude = Int.random(in: -9_000_000...9_000_000, using: &random)
        let longitude = Int.random(in: -18_000_000...18_000_000, using: &random)
        return
            #"{"_type":"point","lat":\#(Double(latitude) / 1e5),"lon":\#(Double(longitude) / 1e5)}"#
    }

    private static let pieces = [
        "5", "007", "1e3", "true", "no", "t", "3,5", " ", "x", ",", ";", "|", "\"", "'", "\n",
        "\r", "\r\n", "\t", "é", "日本", "#", "# line 3: x", "{", "[1]", "=1+1", "\\", "_", "\u{0}",
        "\u{FEFF}", "\u{85}", "N", "SRID=", "2024-05-01", "sep=;",
    ]

    private static func string(_ random: inout SplitMix) -> String {
        let parts = (0...Int.random(in: 0...3, using: &random)).map { _ in
            pieces.randomElement(using: &random)!
        }
        return JSONValue.string(parts.joined()).text
    }

    /// What a field holds in every object that has it: a table has types for columns only.
    private enum Kind: CaseIterable { case string, whole, decimal, bool, place, list, object }

    private static func value(_ kind: Kind, _ random: inout SplitMix) -> String {
        switch kind {
        case .string: return string(&random)
        case .whole: return "\(Int.random(in: -99_999...99_999, using: &random))"
        case .decimal:
            return ["-1.50", "0.0", "1e3", "-2.5E-3", "123456789.012345"].randomElement(
                using: &random)!
        case .bool: return Bool.random(using: &random) ? "true" : "false"
        case .place: return point(&random)
        case .list: return "[\(string(&random)),1,null,\(point(&random))]"
        case .object: return #"{"a":\#(string(&random)),"$oid":{"_x":[]},"lat":1,"lon":2}"#
        }
    }

    private static let names = [
        "location", "at", "lat", "lon", "name", "5", "a,b", "q\"q", "é", "geom", "features", "type",
        "", "a.b", "wkt", "x", "y", "sep=;", "# line 1: x", "hits", "results", "altitude", "id",
    ]

    @Test("Objects come back from every format", arguments: 1...60 as ClosedRange<UInt64>)
    func objects(_ seed: UInt64) throws {
        for form in Form.allCases {
            var random = SplitMix(state: seed)
            let kinds = Kind.allCases.filter { !form.isTable || $0 != .list && $0 != .object }
            let names = Self.names.filter { _ in Int.random(in: 0...2, using: &random) == 0 }
            var fields = names.map { ($0, kinds.randomElement(using: &random)!) }
            if form == .geojson { fields.removeAll { $0.0 == "location" } }
            let objects = (0..<Int.random(in: 1...20, using: &random)).map { number in
                var members = [
                    #""_id":"id-\#(number)""#, #""_created":1795869321587"#,
                    #""_modified":1795869321587"#, #""_version":1"#,
                ]
                // The geometry of a Feature is this field, unless it is told otherwise.
                if form == .geojson { members.append("\"location\":\(Self.point(&random))") }
                for (name, kind) in fields where Int.random(in: 0...4, using: &random) > 0 {
                    let value = Self.value(kind, &random)
                    members.append("\(JSONValue.string(name).text):\(value)")
                }
                return "{\(members.joined(separator: ","))}"
            }
            try Self.check(objects, as: form, "seed \(seed)")
        }
    }

    // MARK: Real data

    private static let data = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../../../shared/data").standardized.path()
    private static let hasData = FileManager.default.fileExists(atPath: data + "/cities")

    @Test(
        "Real data comes back from every format",
        .enabled(if: hasData, "the data are not in ../shared/data"),
        arguments: [
            "airports/airports-main.ndjson.gz", "cities/cities500.ndjson.gz",
            "earthquakes/earthquakes.ndjson.gz",
        ])
    func realData(_ name: String) throws {
        let file = try RecordFile(path: Self.data + "/" + name, format: nil)
        var objects: [String] = []
        while objects.count < 5_000, let record = try file.next() {
            objects.append(String(decoding: try record.result.get(), as: UTF8.self))
        }
        #expect(objects.count > 1_000)
        for form in Form.allCases { try Self.check(objects, as: form, name) }
    }

    @Test(
        "A table of real data becomes its cells, and areas become points in them",
        .enabled(if: hasData, "the data are not in ../shared/data"))
    func realTables() throws {
        let file = try RecordFile(path: Self.data + "/postcodes/postcodes.csv.gz", format: nil)
        #expect(file.understanding.mapping.places.map(\.text) == ["location=lat,lon"])
        var count = 0
        while count < 50_000, let record = try file.next() {
            let object = try JSONValue(
                parsing: String(decoding: record.result.get(), as: UTF8.self))
            #expect(object["postcode"]?.string != nil && object["location"]?["lat"]?.double != nil)
            count += 1
        }
        #expect(count == 50_000)
        var options = ReadingOptions()
        options.mapping.geometry = .point
        let land = try lines(
            of: RecordFile(
                path: Self.data + "/land/countries-110m.geojson", format: nil, options: options))
        #expect(land.count == 177)
        #expect(land.allSatisfy { $0.contains(#""location":{"_type":"point""#) })
    }
}
