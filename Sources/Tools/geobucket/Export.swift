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

    @Option(help: "CSV: a place as columns, wkt or geojson.")
    var placeAs: PlaceForm?

    @Option(
        help: ArgumentHelp(
            "The field with original ids, such as source_id, which become the ids written.",
            valueName: "field"))
    var idField: String?

    @Flag(
        help: "Write the objects' times, versions, owners, types and expiry too; load takes them.")
    var withMetadata = false

    enum ExportFormat: String, ExpressibleByArgument, CaseIterable {
        case ndjson, geojson, csv
    }

    func validate() throws {
        try usage("--bucket") { _ = try BucketName(bucket) }
        if placeAs != nil, format != .csv {
            throw ValidationError("--place-as has no effect on \(format.rawValue); csv takes it")
        }
    }

    func run() async throws {
        var options = WritingOptions()
        options.pointField = point
        options.placeForm = placeAs ?? .columns
        options.isForTerminal = Console.outputIsTerminal
        let (idField, keepsMetadata) = (idField.map { Array($0.utf8) }, withMetadata)
        let format = OutputFormat(rawValue: format.rawValue)!
        let bucket = bucket
        try await server.connect { connection in
            var writer = format.writer(options)
            var dropped = DroppedFields()
            try await ExportedPieces.forEach(of: bucket, connection) { objects in
                var output: [UInt8] = []
                for object in objects {
                    if !keepsMetadata { dropped.note(object) }
                    let text = Self.text(object, idField, keepsMetadata: keepsMetadata)
                    try writer.write(text, to: &output)
                }
                try Console.write(output)
            }
            var output: [UInt8] = []
            try writer.finish(to: &output)
            try Console.write(output)
            if let sentence = dropped.sentence { Console.error(sentence, prefix: "") }
        }
    }

    /// An object, its id replaced by the value of a field that it has, without what is left out.
    private static func text(
        _ object: JSONView, _ idField: [UInt8]?, keepsMetadata: Bool
    ) -> [UInt8] {
        let id = idField?.withUnsafeBufferPointer { object.member($0) }
        let replaces = id?.kind == .string || id?.kind == .number
        if keepsMetadata, !replaces { return Array(object.text) }
        var writer = JSONWriter(reserving: object.text.count + 16)
        writer.byte(UInt8(ascii: "{"))
        func separate() { if writer.count > 1 { writer.byte(UInt8(ascii: ",")) } }
        if replaces, let id {
            writer.raw("\"_id\":")
            writer.string(id.string ?? String(decoding: id.text, as: UTF8.self))
        }
        for member in object.members {
            if replaces,
                member.name.elementsEqualBytes("_id") || member.name.elementsEqualBytes(idField!)
            {
                continue
            }
            if !keepsMetadata, DroppedFields.field(member.name) != nil { continue }
            separate()
            writer.raw(member.text)
        }
        writer.byte(UInt8(ascii: "}"))
        return writer.bytes
    }
}

extension PlaceForm: ExpressibleByArgument {}
