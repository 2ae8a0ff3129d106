import ArgumentParser
import Interchange

/// `geobucket load`: loads objects from a file into a bucket.
struct Load: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Load objects from NDJSON, GeoJSON, a JSON array or CSV, plain or gzipped.",
        discussion: """
            The file's name determines the format (.ndjson .jsonl .json .geojson .csv .tsv, each also \
            with .gz; for .json the beginning of the file counts too), unless --format is given. \
            - reads standard input. An object with an _id replaces the one that has it. Objects are \
            sent in groups, and each group is stored whole or not at all.

            CSV: numbers and true/false are recognised, empty cells are missing. --latitude and \
            --longitude name the columns that become the GeoPoint. GeoJSON: a Point becomes the \
            field --point.
            """)

    @Argument(help: "The file, or - for standard input.")
    var file: String

    @OptionGroup var loading: LoadingOptions

    @Option(help: "ndjson, json (an array), geojson, csv or tsv. (default: by the file's name)")
    var format: InputFormat?

    @Option(help: "The field for the GeoPoint (CSV, GeoJSON).")
    var point = "location"

    @Option(help: ArgumentHelp("CSV column of the latitude.", valueName: "column"))
    var latitude: String?

    @Option(help: ArgumentHelp("CSV column of the longitude.", valueName: "column"))
    var longitude: String?

    @Option(help: ArgumentHelp("CSV column of the id.", valueName: "column"))
    var id: String?

    func validate() throws {
        guard (latitude == nil) == (longitude == nil) else {
            throw ValidationError("--latitude and --longitude go together")
        }
        if format == nil { _ = try usage(file) { try InputFormat.named(file) } }
    }

    func run() async throws { try await loading.load(named: file, records) }

    private func records(_ limits: ServerLimits) throws(InterchangeError) -> RecordFile {
        var options = ReadingOptions()
        options.pointField = point
        options.latitudeColumn = latitude
        options.longitudeColumn = longitude
        options.idColumn = id
        options.limits.documentSize = limits.objectSize
        return try RecordFile(path: file, format: format, options: options)
    }
}

extension InputFormat: ExpressibleByArgument {}
