/// Reads a file of any format as records.
///
///     let file = try RecordFile(path: "cities.csv.gz", format: nil, options: options)
///     while let record = try file.next() { … }
///
/// - Complexity: memory for the current record and a buffer, never for the whole file.
public final class RecordFile: RecordSource {
    /// `feature` for GeoJSON, `element` for a JSON array, `line` for the rest.
    public var recordName: String {
        switch format {
        case .geojson: "feature"
        case .json: "element"
        case .ndjson, .csv, .tsv: "line"
        }
    }
    /// The format of the file: as given, or derived from its name and its beginning.
    public let format: InputFormat
    private let source: ByteSource
    private var reader: any RecordReader

    /// Opens a path, or standard input for `-`.
    ///
    /// - Parameter format: nil derives it from the file's name.
    /// - Throws: for a file that cannot be opened, an unknown format, an unusable header.
    public init(
        path: String, format: InputFormat?, options: ReadingOptions = ReadingOptions()
    ) throws(InterchangeError) {
        var named = (format: InputFormat.ndjson, isGuess: false)
        if let format { named.format = format } else { named = try InputFormat.named(path) }
        source = try ByteSource(path: path)
        let window = ByteWindow(source, maximumBytes: options.recordBytes)
        self.format = try Self.format(named, window)
        reader = try Self.reader(self.format, window, options)
    }

    public func next() throws(InterchangeError) -> Record? { try reader.next() }

    /// Whether nobody has written the next line into the pipe yet.
    public var isWaiting: Bool { totalBytes == nil && !reader.hasLine && source.isDry }

    /// Bytes consumed so far, as stored on disk; for a pipe, the bytes read from it.
    public var consumedBytes: Int { source.consumedBytes }

    /// The size of the file on disk in bytes; nil for a pipe.
    public var totalBytes: Int? { source.totalBytes }

    private static func format(
        _ named: (format: InputFormat, isGuess: Bool), _ window: ByteWindow
    ) throws(InterchangeError) -> InputFormat {
        try window.skipByteOrderMark()
        let (mark, headBytes) = ("bplist0".utf8, 4_096)
        // A pipe gives what it has; only as much is awaited as the decision needs.
        while window.count < headBytes, named.isGuess || mark.starts(with: window.bytes),
            try window.fill() == .grown
        {}
        let head = UnsafeBufferPointer(rebasing: window.bytes.prefix(headBytes))
        guard !head.starts(with: mark) else { throw InputFormat.propertyList }
        return named.isGuess ? InputFormat.ofJSON(head) : named.format
    }

    private static func reader(
        _ format: InputFormat, _ window: ByteWindow, _ options: ReadingOptions
    ) throws(InterchangeError) -> any RecordReader {
        switch format {
        case .ndjson: try NDJSONReader(window, options: options)
        case .json: try JSONArrayReader(window, options: options)
        case .geojson: try GeoJSONReader(window, options: options)
        case .csv: try CSVReader(window, separator: UInt8(ascii: ","), options: options)
        case .tsv: try CSVReader(window, separator: UInt8(ascii: "\t"), options: options)
        }
    }
}
