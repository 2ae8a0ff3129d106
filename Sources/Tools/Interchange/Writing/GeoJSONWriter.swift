import JSONText
import Objects

/// One GeoJSON FeatureCollection, each feature, as `FeatureWriter` writes it, on a line of its own.
struct GeoJSONWriter: ObjectWriter {
    private let parser = ObjectParser()
    private var features: FeatureWriter
    private var isEmpty = true

    init(pointField: String?) {
        features = FeatureWriter(pointField: pointField.map { FieldPath($0) })
    }

    mutating func write(_ object: [UInt8], to output: inout [UInt8]) throws(InterchangeError) {
        let view = try parser.parse(object)
        var writer = JSONWriter(reserving: object.count + 160)
        isEmpty ? writer.raw(Self.opening) : writer.byte(UInt8(ascii: ","))
        isEmpty = false
        writer.raw("\n")
        features.write(unclosed: view, to: &writer)
        writer.byte(UInt8(ascii: "}"))
        output += writer.bytes
    }

    mutating func finish(to output: inout [UInt8]) {
        var writer = JSONWriter()
        if isEmpty { writer.raw(Self.opening) }
        writer.raw("\n]}\n")
        output += writer.bytes
    }

    private static let opening: StaticString = "{\"type\":\"FeatureCollection\",\"features\":["
}
