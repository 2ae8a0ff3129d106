import JSONText

/// Writes objects, one after the other, in some format.
///
///     var writer = OutputFormat.geojson.writer()
///     for object in page { try writer.write(object, to: &bytes) }   // bytes can be drained
///     try writer.finish(to: &bytes)
///
/// The text is complete and valid only after `finish`, even if no object was written.
public protocol ObjectWriter {
    /// Appends the text of one object; a writer may delay it until `finish`.
    ///
    /// - Parameter object: the JSON text of an object.
    /// - Throws: if that is not a JSON object.
    mutating func write(_ object: [UInt8], to output: inout [UInt8]) throws(InterchangeError)

    /// Appends the end of the text. Nothing may be written after it.
    mutating func finish(to output: inout [UInt8]) throws(InterchangeError)
}

/// The formats that objects can be written in.
public enum OutputFormat: String, Sendable, Hashable, CaseIterable {
    /// Aligned columns for a terminal.
    case table
    /// One JSON array.
    case json
    /// One JSON object on each line.
    case ndjson
    /// One FeatureCollection.
    case geojson
    /// Comma-separated values with a header row.
    case csv

    /// A new writer of the format, for one text.
    public func writer(_ options: WritingOptions = WritingOptions()) -> any ObjectWriter {
        switch self {
        case .table: TableWriter(options: options)
        case .json: JSONArrayWriter()
        case .ndjson: NDJSONWriter()
        case .geojson: GeoJSONWriter(pointField: options.pointField)
        case .csv:
            CSVWriter(
                columns: options.columns, options.placeForm, isForTerminal: options.isForTerminal)
        }
    }
}

/// How a table has a GeoPoint.
public enum PlaceForm: String, Sendable, Hashable, CaseIterable {
    /// Two columns, `location.lat` and `location.lon`.
    case columns
    /// One column of well-known text: `POINT(2.25 48.5)`.
    case wkt
    /// One column of GeoJSON.
    case geojson
}

/// How objects are written, if the format leaves a choice.
public struct WritingOptions: Sendable {
    /// Table and CSV: the columns as field paths, in this order. Nil takes them from the objects,
    /// all of which are then kept until the end.
    public var columns: [String]?
    /// CSV: how GeoPoints are written.
    public var placeForm = PlaceForm.columns
    /// GeoJSON: the field that becomes the geometry. Nil takes the GeoPoint `location`, or the
    /// first GeoPoint of an object without it.
    public var pointField: String?
    /// Table: the terminal's width in columns; nil cuts nothing.
    public var width: Int?
    /// Table: whether the terminal shows bold text.
    public var isBold = false
    /// Table: the columns of the header if there is no object to take them from, as field paths.
    public var columnsIfEmpty: [String] = []
    /// CSV: whether characters that control a terminal are replaced.
    public var isForTerminal = false

    /// The columns of the objects, uncut and not bold, and the default geometry.
    public init() {}
}

/// Parses the objects that a writer is given.
struct ObjectParser {
    private let parser = JSONParser()

    /// The view is valid until the next call.
    func parse(_ object: [UInt8]) throws(InterchangeError) -> JSONView {
        guard let view = try? parser.parse(object), view.kind == .object else {
            throw InterchangeError("cannot write what is no JSON object")
        }
        return view
    }
}
