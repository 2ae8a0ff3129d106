import ArgumentParser
import GeoBucketClient
import Interchange
import JSONText
import QueryLanguage

/// `geobucket export`: a whole bucket to standard output.
struct Export: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Write a whole bucket to standard output, in the order of creation.")

    @Option(help: "The bucket to write out.")
    var bucket: String

    @OptionGroup var server: ServerOption

    @Option(help: "ndjson, geojson or csv.")
    var format = ExportFormat.ndjson

    @Option(help: "GeoJSON: the field that becomes the geometry. (default: the first GeoPoint)")
    var point: String?

    enum ExportFormat: String, ExpressibleByArgument, CaseIterable {
        case ndjson, geojson, csv
    }

    func run() async throws {
        var options = WritingOptions()
        options.pointField = point
        let request = PageRequest(bucket: bucket, query: Query())
        let format = OutputFormat(rawValue: format.rawValue)!
        try await server.connect { connection in
            var writer = format.writer(options)
            _ = try await request.pages(connection, upTo: .max) { object, output in
                try writer.write(object, to: &output)
            }
            var output: [UInt8] = []
            try writer.finish(to: &output)
            try Console.write(output)
        }
    }
}
