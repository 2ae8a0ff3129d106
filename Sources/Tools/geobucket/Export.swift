import ArgumentParser
import GeoBucketClient
import Interchange
import JSONText
import Objects

/// `geobucket export`: writes a whole bucket to standard output.
struct Export: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Write a whole bucket to standard output, in the order of creation.",
        discussion: """
            The output is the state of the bucket at the beginning of the export, whatever is written \
            to it meanwhile.
            """)

    @Option(help: "The bucket to export.")
    var bucket: String

    @OptionGroup var server: ServerOption

    @Option(help: "ndjson, geojson or csv.")
    var format = ExportFormat.ndjson

    @Option(
        help:
            "GeoJSON: the field that becomes the geometry. (default: location, else the first GeoPoint)"
    )
    var point: String?

    enum ExportFormat: String, ExpressibleByArgument, CaseIterable {
        case ndjson, geojson, csv
    }

    func validate() throws { try usage("--bucket") { _ = try BucketName(bucket) } }

    func run() async throws {
        var options = WritingOptions()
        options.pointField = point
        let format = OutputFormat(rawValue: format.rawValue)!
        let bucket = bucket
        try await server.connect { connection in
            var writer = format.writer(options)
            var isFirst = true
            var more = true
            while more {
                let piece = try await connection.call(
                    "bucket.export", Self.params(bucket, continues: !isFirst))
                isFirst = false
                var output: [UInt8] = []
                more = try JSONParser.reading(piece) { view in
                    for object in view["objects"]?.elements ?? view.elements {
                        try writer.write(Array(object.text), to: &output)
                    }
                    return view["more"]?.bool ?? false
                }
                try Console.write(output)
            }
            var output: [UInt8] = []
            try writer.finish(to: &output)
            try Console.write(output)
        }
    }

    static func params(_ bucket: String, continues: Bool) -> [UInt8] {
        var writer = JSONWriter()
        writer.raw("{\"bucket\":")
        writer.string(bucket)
        writer.key("continue")
        writer.bool(continues)
        writer.byte(UInt8(ascii: "}"))
        return writer.bytes
    }
}
