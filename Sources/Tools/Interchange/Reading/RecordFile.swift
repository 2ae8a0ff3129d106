import Glibc
import JSONText
import Objects

/// Reads a file of any format as records.
///
///     let file = try RecordFile(path: "cities.csv.gz", format: nil, options: options)
///     file.understanding.summary           // what was found out
///     while let record = try file.next() { … }
///
/// - Complexity: memory for the current record, a buffer and the first 10,000 records or 8 MiB of
///   them, never for the whole file.
public final class RecordFile: RecordSource {
    /// `feature` for GeoJSON, `element` for a JSON array, `line` for rows and lines.
    public var recordName: String {
        switch format {
        case .geojson, .gpx, .kml: "feature"
        case .json: "element"
        case .plist: "object"
        case .ndjson, .csv, .tsv: "line"
        }
    }
    /// The format of the file: as given, or derived from its name and its beginning.
    public var format: InputFormat { understanding.format }
    /// What was understood of the file.
    public private(set) var understanding: Understanding
    /// A table's header row.
    public private(set) var head: [UInt8] = []
    private let source: ByteSource
    private let options: ReadingOptions
    private var reader: any RecordReader
    private var mapper: Mapper
    private let kind: RecordFields.Kind
    private var isExtended = false
    /// The records that were looked at and not delivered, the next one last.
    private var sample: [RawRecord] = []
    private let extendedParser = JSONParser()

    /// Opens a path, or standard input for `-`; of a folder with a GTFS feed its stops.
    ///
    /// - Parameter format: nil derives it from the file's name and its beginning.
    /// - Throws: for a file that cannot be opened or understood, for an unusable header, and for
    ///   flags that its format does not take or that name fields that it has not.
    public init(
        path: String, format: InputFormat?, options: ReadingOptions = ReadingOptions()
    ) throws(InterchangeError) {
        let opened = try OpenedText(Self.file(path), format, options)
        (source, reader, kind) = (opened.source, opened.reader, opened.kind)
        self.options = options
        understanding = Understanding(format: opened.format, mapping: options.mapping)
        understanding.details = opened.details
        understanding.formatFlags = opened.flags
        understanding.warnings = opened.warnings
        understanding.mapping.crs = options.mapping.crs ?? opened.crs
        mapper = Mapper(options.mapping, limits: options.limits, kind: .any, minifies: true)
        if let table = reader as? CSVReader {
            understanding.columns = table.header.columns.map { ($0.name, $0.type) }
            head = table.head
        }
        try lookAhead()
        mapper = Mapper(
            understanding.mapping, limits: options.limits, kind: kind,
            minifies: understanding.format != .ndjson)
    }

    private static func file(_ path: String) -> String {
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else { return path }
        let stops = path + (path.hasSuffix("/") ? "" : "/") + "stops.txt"
        return access(stops, R_OK) == 0 ? stops : path
    }

    public func next() throws(InterchangeError) -> Record? {
        while let raw = try nextRaw() {
            if raw.number < options.firstRecord { continue }
            let source = raw.source.isEmpty ? (try? raw.result.get()) ?? [] : raw.source
            return Record(
                number: raw.number, result: result(raw),
                source: options.keepsSource ? source : [])
        }
        return nil
    }

    private func nextRaw() throws(InterchangeError) -> RawRecord? {
        if let first = sample.popLast() { return first }
        return try reader.next()
    }

    private func result(_ raw: RawRecord) -> Result<[UInt8], RecordError> {
        do throws(RecordError) {
            let text = plain(try raw.result.get())
            return .success(
                try text.withUnsafeBufferPointer { text throws(RecordError) in
                    try mapper.object(text)
                })
        } catch {
            return .failure(error)
        }
    }

    /// A record without the wrappers of other databases.
    private func plain(_ text: [UInt8]) -> [UInt8] {
        guard isExtended, let record = try? extendedParser.parse(text) else { return text }
        return ExtendedJSON.plain(record) ?? text
    }

    /// Whether nobody has written the next line into the pipe yet.
    public var isWaiting: Bool {
        totalBytes == nil && sample.isEmpty && !reader.hasLine && source.isDry
    }

    /// Bytes consumed so far, as stored on disk; for a pipe, the bytes read from it.
    public var consumedBytes: Int { source.consumedBytes }

    /// The size of the file on disk in bytes; nil for a pipe.
    public var totalBytes: Int? { source.totalBytes }

    // MARK: Looking ahead

    private func lookAhead() throws(InterchangeError) {
        var size = 0
        while options.surveysAll || sample.count < SampleSize.records && size < SampleSize.bytes {
            let mayWait = !sample.isEmpty && totalBytes == nil && !reader.hasLine
            if mayWait, source.isDry(afterMilliseconds: SampleSize.patience) { break }
            do throws(InterchangeError) {
                guard let raw = try reader.next() else {
                    understanding.isWhole = true
                    break
                }
                size += ((try? raw.result.get())?.count ?? 0) + raw.source.count
                sample.append(raw)
            } catch {
                // What stands before a fault of the file is delivered first.
                reader = BrokenReader(error)
                break
            }
        }
        isExtended = !understanding.format.isTable && sample.contains(where: isWrapped)
        try survey()
        sample.reverse()
    }

    private func isWrapped(_ raw: RawRecord) -> Bool {
        guard let text = try? raw.result.get(), let record = try? extendedParser.parse(text) else {
            return false
        }
        return ExtendedJSON.plain(record) != nil
    }

    private func survey() throws(InterchangeError) {
        var survey = Survey(for: options.mapping)
        try forEachSample { survey.add($1) }
        understanding.records = survey.records
        understanding.fields = survey.fields
        understanding.hasGeometry = survey.hasGeometry
        understanding.hasIDs = survey.hasIDs
        if isExtended { understanding.details.append("typed values made plain") }
        guard survey.records > 0 else { return }
        if let missing = survey.missing.first {
            throw InterchangeError.noField(missing.path, among: survey.names, flag: missing.flag)
        }
        if survey.hasForeignIDs, options.mapping.id == .usual {
            understanding.mapping.keepsID = true
        }
        if options.mapping.places.isEmpty, options.mapping.findsPlaces { findPlaces(survey) }
        try checkOrder()
    }

    private func findPlaces(_ survey: Survey) {
        let found = survey.places(understanding.mapping)
        understanding.mapping.places = found.rules
        guard !found.rivals.isEmpty else { return }
        let flags = found.rivals.map { "--place \($0.text)" }.joined(separator: " or ")
        understanding.warnings.append(
            "\(found.rivals.count) places are possible and none is taken; say \(flags)")
    }

    private func forEachSample(
        _ body: (RawRecord, RecordFields) -> Void
    ) throws(InterchangeError) {
        let parser = JSONParser()
        for raw in sample {
            guard let text = try? raw.result.get(), let view = try? parser.parse(plain(text)),
                view.kind == .object, let fields = try? RecordFields(view, kind)
            else { continue }
            withExtendedLifetime(parser) { body(raw, fields) }
        }
    }

    /// Refuses a file whose latitudes and longitudes are exchanged: some latitude is beyond 90
    /// degrees, and none of the longitudes.
    private func checkOrder() throws(InterchangeError) {
        let mapping = understanding.mapping
        guard mapping.crs ?? .degrees == .degrees else { return }
        let geometry = PlaceRule(field: mapping.pointField, source: .value("geometry"))
        let hasOwn =
            understanding.hasGeometry && !mapping.places.contains { $0.paths == ["geometry"] }
        for rule in mapping.places + (hasOwn ? [geometry] : []) {
            var order = PlaceOrder(rule, mapping.geometry)
            try forEachSample { order.add($0.number, $1) }
            guard let found = order.exchanged, !options.skipsErrors || order.isMostlyExchanged
            else { continue }
            let path = rule.paths == ["geometry"] ? "geometry.coordinates" : rule.paths[0]
            throw InterchangeError(
                "\(recordName) \(found.number): \(path): latitude \(found.latitude) is outside "
                    + "-90...90 degrees, and no longitude is: they seem to be exchanged; "
                    + "--place \(rule.exchanged(isText: order.isText).text) takes them the other "
                    + "way round")
        }
    }
}

/// The positions of one rule in a sample: whether latitudes and longitudes are exchanged.
private struct PlaceOrder {
    private let rule: PlaceRule
    private let reader: PlaceReader
    private var count = 0
    private var beyond = 0
    private var first: (number: Int, latitude: Double)?
    private var hasFarLongitude = false
    private(set) var isText = false

    init(_ rule: PlaceRule, _ geometry: GeometryRule) {
        (self.rule, reader) = (rule, PlaceReader(geometry))
    }

    mutating func add(_ number: Int, _ fields: RecordFields) {
        let values = rule.paths.map { fields.value(at: FieldPath($0)) }
        let found: PlaceReader.Found?
        switch rule.source {
        case .pair(let latitude, let longitude):
            found = try? reader.pair(values[0], values[1], (latitude, longitude))
        case .value: found = try? reader.value(values[0])
        case .ordered(_, _, let latitudeFirst):
            found = try? reader.value(values[0], latitudeFirst: latitudeFirst)
        }
        guard case .point(let position, let system)? = found, system ?? .degrees == .degrees else {
            return
        }
        count += 1
        if values[0]?.kind == .string { isText = true }
        if abs(position.x) > 90 { hasFarLongitude = true }
        guard abs(position.y) > 90, abs(position.y) <= 180 else { return }
        beyond += 1
        if first == nil { first = (number, position.y) }
    }

    var exchanged: (number: Int, latitude: Double)? { hasFarLongitude ? nil : first }
    var isMostlyExchanged: Bool { beyond * 2 > count }
}

/// Ends a reading with the fault of a file, behind the records that stood before it.
private struct BrokenReader: RecordReader {
    private let fault: InterchangeError

    init(_ fault: InterchangeError) { self.fault = fault }

    func next() throws(InterchangeError) -> RawRecord? { throw fault }
}
