import Archives
import JSONText

/// A file whose format is known: how its bytes become records, and what was found out on the way.
struct OpenedText {
    let source: ByteSource
    private(set) var format: InputFormat
    private(set) var kind = RecordFields.Kind.any
    private(set) var reader: any RecordReader = FinishedReader([])
    private(set) var crs: ReferenceSystem?
    private(set) var details: [String] = []
    private(set) var flags: [String] = []
    private(set) var warnings: [String] = []
    private let window: ByteWindow
    private let options: ReadingOptions

    init(
        _ path: String, _ told: InputFormat?, _ options: ReadingOptions
    ) throws(InterchangeError) {
        self.options = options
        source = try ByteSource(path: path)
        let window = ByteWindow(source, maximumBytes: options.recordBytes)
        self.window = window
        let isGuess: Bool
        (format, isGuess) = try Self.format(path, told, window, source)
        if let zipped = source.zipped { details.append(zipped.name) }
        if format == .gpx || format == .kml || format == .plist {
            try readDocument()
            return
        }
        try decode()
        try window.skipByteOrderMark()
        if isGuess { format = InputFormat.of(Self.head(window), named: format) }
        guard !format.isTable else {
            try readTable(isGuess: isGuess)
            return
        }
        let isObject = Self.head(window).trimmed.first == UInt8(ascii: "{")
        let isSearched = isGuess || format == .json || format == .geojson || options.records != nil
        let outline = isObject && isSearched ? try outline(path) : nil
        try readJSON(outline, isGuess: isGuess)
    }

    // MARK: Format

    private static func head(_ window: ByteWindow) -> UnsafeBufferPointer<UInt8> {
        UnsafeBufferPointer(rebasing: window.bytes.prefix(4_096))
    }

    /// The format that is told, or that the name or the beginning tells, and whether the rest of
    /// the file may tell another.
    private static func format(
        _ path: String, _ told: InputFormat?, _ window: ByteWindow, _ source: ByteSource
    ) throws(InterchangeError) -> (InputFormat, isGuess: Bool) {
        let named: Result<(format: InputFormat, isGuess: Bool), InterchangeError>
        do throws(InterchangeError) {
            if let told {
                named = .success((told, false))
            } else {
                named = .success(try InputFormat.named(source.zipped?.name ?? path))
            }
        } catch {
            named = .failure(error)
        }
        let isGuess = (try? named.get().isGuess) ?? true
        // A pipe gives what it has; only as much is awaited as the decision needs.
        while window.count == 0 || window.count < 8 || isGuess && window.count < 4_096,
            try window.fill() == .grown
        {}
        if told?.isTable != true, let found = try InputFormat.recognized(head(window)) {
            guard told == nil || told == found else {
                throw InterchangeError("is \(found.rawValue); --format \(found.rawValue) reads it")
            }
            return (found, false)
        }
        return try named.get()
    }

    // MARK: Text

    private mutating func decode() throws(InterchangeError) {
        if format.isTable, source.totalBytes != nil {
            while window.count < 1 << 20, try window.fill() == .grown {}
        }
        let encoding =
            options.encoding ?? TextEncoding(of: window.bytes, mayBeWindows: format.isTable)
        guard encoding != .utf8 else { return }
        try window.decode(encoding)
        details.append(encoding.rawValue)
        flags += ["--encoding", encoding.rawValue]
        if options.encoding == nil, encoding == .windows1252 {
            warnings.append(
                "the text is no UTF-8 and is taken for windows-1252; --encoding says what it is")
        }
    }

    private mutating func readTable(isGuess: Bool) throws(InterchangeError) {
        let table = try CSVReader(window, isTabbed: format == .tsv, options: options)
        if isGuess, table.header.columns.count == 1 {
            throw InterchangeError(
                "is plain text, neither JSON nor a table; --format csv reads it as a table of one "
                    + "column", isUsage: true)
        }
        reader = table
        let separator = String(UnicodeScalar(table.dialect.separator))
        let isTab = separator == "\t"
        details.append("separator \(isTab ? "tab" : separator)")
        flags += ["--separator", isTab ? "tab" : separator]
        if !table.dialect.hasHeader {
            details.append("no header")
            flags.append("--no-header")
        }
        let commas = table.header.columns.contains { $0.type == .number(comma: true) }
        if commas { details.append("decimal comma") }
        if options.table.nests { flags.append("--nest") }
        if options.table.empty != .missing { flags += ["--empty", options.table.empty.rawValue] }
        for column in table.header.columns {
            switch column.type {
            case .text: flags += ["--text", column.name]
            case .number: flags += ["--number", column.name]
            case .boolean: flags += ["--boolean", column.name]
            case .date(let format):
                flags += ["--date", column.name + (format.map { "=\($0)" } ?? "")]
            }
        }
        if commas { flags += ["--decimal", ","] }
    }

    // MARK: JSON

    /// What the text is made of. A file is read to its end; of a pipe only what is there.
    private func outline(_ path: String) throws(InterchangeError) -> JSONOutline {
        var outline = JSONOutline()
        guard source.totalBytes != nil else {
            while options.records != nil || format == .json, window.count < 1 << 20,
                try window.fill() == .grown
            {}
            _ = outline.read(UnsafeRawBufferPointer(window.bytes))
            return outline
        }
        let other = ByteWindow(try ByteSource(path: path), maximumBytes: 1 << 20)
        _ = try other.fill()
        let encoding = options.encoding ?? TextEncoding(of: other.bytes, mayBeWindows: false)
        try other.decode(encoding)
        try other.skipByteOrderMark()
        do throws(InterchangeError) {
            while outline.read(UnsafeRawBufferPointer(other.bytes)) {
                other.consume(other.count)
                guard try other.fill() == .grown else { break }
            }
        } catch {
            // The reader meets the same fault, behind the records in front of it.
        }
        return outline
    }

    private mutating func readJSON(
        _ outline: JSONOutline?, isGuess: Bool
    ) throws(InterchangeError) {
        if let outline {
            try Self.refuse(outline)
            try readSystem(outline)
        }
        if let list = try outline.flatMap({ outline throws(InterchangeError) in
            try self.list(outline, isGuess: isGuess)
        }) {
            if list.path != ["features"] || options.records != nil {
                format = .json
                details.append("records \(list.name)")
                flags += ["--records", list.name]
                if list.path == ["elements"] { kind = .elements }
                reader = try JSONArrayReader(window, offset: list.offset)
                return
            }
            format = .geojson
        } else if options.records != nil {
            throw InterchangeError(
                "--records: the text is no JSON object with an array in it", isUsage: true)
        }
        switch format {
        case .json where outline == nil: reader = try JSONArrayReader(window)
        case .geojson:
            kind = .features
            reader = try GeoJSONReader(
                window, knowsSystem: options.mapping.crs != nil || outline?.isWhole == true)
        case .json: reader = try GeoJSONReader(window, knowsSystem: true)
        default:
            guard isGuess, let outline, outline.isOneValue, outline.spansLines else {
                reader = try NDJSONReader(window)
                return
            }
            format = .json
            reader = try GeoJSONReader(window, knowsSystem: true)
        }
    }

    /// Refuses by name what is JSON of another kind.
    private static func refuse(_ outline: JSONOutline) throws(InterchangeError) {
        let members = outline.members
        let isEsri =
            members["geometryType"]?.contains("esriGeometry") == true
            || members["spatialReference"] != nil && members["type"] == nil
        if isEsri { throw InputFormat.unreadable("Esri JSON", instead: nil) }
        if members["type"] == "\"Topology\"" {
            throw InputFormat.unreadable("TopoJSON", instead: nil)
        }
    }

    private mutating func readSystem(_ outline: JSONOutline) throws(InterchangeError) {
        guard options.mapping.crs == nil, let text = outline.members["crs"], text != "null" else {
            return
        }
        let name =
            (try? JSONParser.reading(Array(text.utf8)) { view in
                view["properties"]?["name"]?.string
            }) ?? nil
        guard let system = ReferenceSystem(name ?? text) else {
            throw InterchangeError(ReferenceSystem.refusal(name ?? text))
        }
        crs = system
        if system != .degrees { details.append("reference system \(system.name)") }
    }

    private static let usualLists = [
        "features", "results", "data", "elements", "hits.hits", "documents", "records", "items",
        "rows", "objects", "response.docs",
    ]

    /// The array that has the records: the one that is told, else one of a usual name, else the one
    /// that most of the text is.
    private func list(
        _ outline: JSONOutline, isGuess: Bool
    ) throws(InterchangeError) -> JSONOutline.List? {
        if let told = options.records {
            if let list = outline.lists.first(where: { $0.name == told }) { return list }
            throw InterchangeError.noField(
                told, among: outline.lists.map(\.name), flag: "--records")
        }
        // Several values are lines, whatever arrays the first has.
        guard outline.isOneValue || !outline.hasEnded, isGuess || format != .ndjson else {
            return nil
        }
        for name in Self.usualLists {
            guard let list = outline.lists.first(where: { $0.name == name }) else { continue }
            if format == .geojson, name != "features" { continue }
            return list
        }
        guard format != .geojson, let longest = outline.lists.max(by: { $0.bytes < $1.bytes })
        else { return nil }
        if longest.bytes * 2 > outline.bytes || outline.lists.count == 1 && longest.count > 1 {
            return longest
        }
        guard outline.lists.count > 1 else { return nil }
        throw InterchangeError(
            "is one JSON object with several arrays; say --records, one of "
                + outline.lists.map(\.name).joined(separator: ", "), isUsage: true)
    }

    // MARK: Documents

    /// Reads a format whose records are known only when all of it is.
    private mutating func readDocument() throws(InterchangeError) {
        let bytes = try window.rest(atMost: options.archive.archive.limits.fileBytes)
        do throws(ArchiveFailure) {
            switch format {
            case .plist:
                let records = try ArchivedRecords(bytes, options: options.archive)
                reader = ArchivedReader(records)
            default:
                kind = .features
                let document = try PlaceDocument(bytes)
                reader = FinishedReader(
                    zip(1..., document.features).map { number, feature in
                        RawRecord(number: number, result: .success(feature.utf8))
                    })
                if document.others > 0 {
                    warnings.append(
                        "\(document.others) tracks and routes are no waypoints and are left out; "
                            + "`ogr2ogr -f GeoJSONSeq /vsistdout/ FILE tracks | geobucket load - "
                            + "--format geojson --geometry point` loads them")
                }
            }
        } catch {
            throw InterchangeError(error.description + ArchivedReader.hint(at: error))
        }
    }
}

/// Records that are all there.
struct FinishedReader: RecordReader {
    private var rest: ArraySlice<RawRecord>

    init(_ records: [RawRecord]) { rest = records[...] }

    mutating func next() -> RawRecord? { rest.popFirst() }
}

/// The objects of an archive or property list.
struct ArchivedReader: RecordReader {
    private let records: ArchivedRecords
    private var index = 0

    init(_ records: ArchivedRecords) { self.records = records }

    /// The flag that helps against a failure.
    static func hint(at error: ArchiveFailure) -> String {
        error.isReferenceBack ? "; --cycles cut leaves such members out" : ""
    }

    mutating func next() -> RawRecord? {
        guard index < records.count else { return nil }
        index += 1
        do throws(ArchiveFailure) {
            let text = try records.document(at: index - 1).utf8
            return RawRecord(number: index, result: .success(text))
        } catch {
            let error = RecordError(error.message + Self.hint(at: error), path: error.path)
            return RawRecord(number: index, result: .failure(error))
        }
    }
}
