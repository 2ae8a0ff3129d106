import Archives
import JSONText

/// A file whose format is known: how its bytes become records, and what was found out on the way.
struct OpenedText {
    let window: ByteWindow
    private(set) var kind = RecordFields.Kind.any
    private(set) var reader: any RecordReader = FinishedReader([])
    private(set) var found: Understanding
    private let options: ReadingOptions
    private var format: InputFormat {
        get { found.format }
        set { found.format = newValue }
    }

    init(
        _ path: String, _ told: InputFormat?, _ options: ReadingOptions
    ) throws(InterchangeError) {
        self.options = options
        let source = try ByteSource(path: path)
        window = ByteWindow(source, maximumBytes: options.recordBytes)
        let name = source.zipped?.name ?? path
        let (format, isGuess) = try Self.format(name, told, window)
        found = Understanding(format: format, mapping: options.mapping)
        if let zipped = source.zipped { found.details.append(zipped.name) }
        if format == .gpx || format == .kml || format == .plist {
            try readDocument()
            return
        }
        try decode()
        try window.skipByteOrderMark()
        if isGuess { self.format = InputFormat.of(window.prefix(Self.headBytes), named: format) }
        if self.format.isTable {
            try readTable(isGuess: isGuess)
        } else {
            try readJSON(isGuess: isGuess)
        }
    }

    // MARK: Format

    private static let headBytes = 4_096

    /// Whether a byte is a control character that texts do not have.
    private static func isControl(_ byte: UInt8) -> Bool {
        byte < 0x20 && ![0x09, 0x0A, 0x0C, 0x0D, 0x1E].contains(byte)
    }

    /// The format that is told, or that the name or the beginning tells, and whether the rest of
    /// the file may tell another.
    private static func format(
        _ name: String, _ told: InputFormat?, _ window: ByteWindow
    ) throws(InterchangeError) -> (InputFormat, isGuess: Bool) {
        let (named, isGuess) =
            told.map { ($0, false) } ?? InputFormat.named(name)
        // A pipe gives what it has; only as much is awaited as the decision needs.
        while window.count < 8 || isGuess && window.count < headBytes && !window.hasAll,
            window.grow()
        {}
        if told?.isTable != true,
            let found = try InputFormat.recognized(
                window.prefix(headBytes))
        {
            guard told == nil || told == found else {
                throw InterchangeError("is \(found.rawValue); --format \(found.rawValue) reads it")
            }
            return (found, false)
        }
        return (named, isGuess)
    }

    // MARK: Text

    private mutating func decode() throws(InterchangeError) {
        if format.isTable, window.source.totalBytes != nil {
            while window.count < 1 << 20, window.grow() {}
        }
        let encoding =
            options.encoding ?? TextEncoding(of: window.bytes, mayBeWindows: format.isTable)
        guard encoding != .utf8 else { return }
        try window.decode(encoding)
        found.details.append(encoding.rawValue)
        found.formatFlags += ["--encoding", encoding.rawValue]
        if options.encoding == nil, encoding == .windows1252 {
            found.warnings.append(
                "the text is no UTF-8 and is taken for windows-1252; --encoding says what it is")
        }
    }

    private mutating func readTable(isGuess: Bool) throws(InterchangeError) {
        if isGuess, window.prefix(Self.headBytes).contains(where: Self.isControl) {
            throw InputFormat.unknown
        }
        let table = try CSVReader(window, isTabbed: format == .tsv, options: options)
        if isGuess, table.header.columns.count == 1 || !table.dialect.isClear {
            throw InterchangeError(
                "is plain text, neither JSON nor a table; --format csv reads it as a table of one "
                    + "column", isUsage: true)
        }
        reader = table
        found.columns = table.header.columns.map { ($0.name, $0.type) }
        let separator = String(UnicodeScalar(table.dialect.separator))
        let isTab = separator == "\t"
        found.details.append("separator \(isTab ? "tab" : separator)")
        found.formatFlags += ["--separator", isTab ? "tab" : separator]
        for number in table.header.unnamed {
            found.warnings.append(
                "column \(number) of the header has no name and is called column\(number)")
        }
        if !table.dialect.hasHeader {
            found.details.append("no header")
            found.formatFlags.append("--no-header")
        }
        let commas = table.header.columns.contains { $0.type == .number(comma: true) }
        if commas { found.details.append("decimal comma") }
        if options.table.nests { found.formatFlags.append("--nest") }
        if options.table.empty != .missing {
            found.formatFlags += ["--empty", options.table.empty.rawValue]
        }
        for column in table.header.columns {
            switch column.type {
            case .text: found.formatFlags += ["--text", column.name]
            case .number: found.formatFlags += ["--number", column.name]
            case .boolean: found.formatFlags += ["--boolean", column.name]
            case .date(let format):
                found.formatFlags += ["--date", column.name + (format.map { "=\($0)" } ?? "")]
            }
        }
        if commas { found.formatFlags += ["--decimal", ","] }
    }

    // MARK: JSON

    private mutating func readJSON(isGuess: Bool) throws(InterchangeError) {
        let isObject = window.prefix(Self.headBytes).trimmed.first == UInt8(ascii: "{")
        let isSearched = isGuess || format == .json || format == .geojson || options.records != nil
        let outline = isObject && isSearched ? try JSONOutline(window) : nil
        if let outline {
            try Self.refuse(outline)
            try readSystem(outline)
        }
        if let list = try outline.flatMap({ outline throws(InterchangeError) in
            try self.list(outline, isGuess: isGuess)
        }) {
            if list.path != ["features"] || options.records != nil {
                format = .json
                found.details.append("records \(list.name)")
                found.formatFlags += ["--records", list.name]
                if list.path == ["elements"] { kind = .elements }
                reader = JSONArrayReader(window, offset: list.offset)
                return
            }
            format = .geojson
        } else if options.records != nil {
            throw InterchangeError(
                "--records: the text is no JSON object with an array in it", isUsage: true)
        }
        switch format {
        case .json where outline == nil: reader = JSONArrayReader(window)
        case .geojson:
            kind = .features
            reader = GeoJSONReader(
                window, knowsSystem: options.mapping.crs != nil || outline?.isOneValue == true)
        case .json: reader = GeoJSONReader(window, knowsSystem: true)
        default:
            guard isGuess, let outline, outline.spansLines else {
                reader = NDJSONReader(window)
                return
            }
            format = .json
            reader = GeoJSONReader(window, knowsSystem: true)
        }
    }

    /// Refuses by name what is JSON of another kind.
    private static func refuse(_ outline: JSONOutline) throws(InterchangeError) {
        let members = outline.members
        let isEsri =
            members["geometryType"]?.contains("esriGeometry") == true
            || members["spatialReference"] != nil && members["type"] == nil
        if isEsri { throw InputFormat.unreadable("Esri JSON") }
        if members["type"] == "\"Topology\"" {
            throw InputFormat.unreadable("TopoJSON")
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
        found.mapping.crs = system
        if system != .degrees { found.details.append("reference system \(system.name)") }
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
        guard format != .plist else {
            reader = try ArchivedReader(bytes, options.archive, flag: "--cycles cut")
            return
        }
        kind = .features
        let document: PlaceDocument
        do throws(ArchiveFailure) {
            document = try PlaceDocument(bytes)
        } catch {
            throw InterchangeError(error.description)
        }
        reader = FinishedReader(
            zip(1..., document.features).map { number, feature in
                RawRecord(number: number, result: .success(feature.utf8))
            })
        if document.others > 0 {
            found.warnings.append(
                "\(document.others) tracks and routes are no waypoints and are left out; "
                    + "`ogr2ogr -f GeoJSONSeq /vsistdout/ FILE tracks | geobucket load - "
                    + "--format geojson --geometry point` loads them")
        }
    }
}

/// Records that are all there.
struct FinishedReader: RecordReader {
    private var rest: ArraySlice<RawRecord>

    init(_ records: [RawRecord]) { rest = records[...] }

    mutating func next() -> RawRecord? { rest.popFirst() }
}
