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
    private let window: ByteWindow
    private let options: ReadingOptions
    private var reader: any RecordReader
    private var mapper: Mapper
    private let kind: RecordFields.Kind
    /// Whether records have the wrappers of other databases.
    private var isExtended = false
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
        (window, reader, kind) = (opened.window, opened.reader, opened.kind)
        (self.options, understanding) = (options, opened.found)
        head = (reader as? CSVReader)?.head ?? []
        mapper = Mapper(
            options.mapping, limits: options.limits, kind: .any, minifies: true, isStream: true)
        try survey()
        mapper = Mapper(
            understanding.mapping, limits: options.limits, kind: kind,
            minifies: understanding.format != .ndjson, isStream: window.source.totalBytes == nil)
    }

    private static func file(_ path: String) -> String {
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else { return path }
        let stops = path + (path.hasSuffix("/") ? "" : "/") + "stops.txt"
        return access(stops, R_OK) == 0 ? stops : path
    }

    public func next() throws(InterchangeError) -> Record? {
        while let raw = try reader.next() {
            if raw.number < options.firstRecord { continue }
            let source = !options.keepsSource ? [] : raw.source.isEmpty ? raw.text : raw.source
            do throws(RecordError) {
                let object = try mapper.object(plain(try raw.result.get()))
                return Record(
                    number: raw.number, result: .success(object.text),
                    idHash: object.idHash, source: source)
            } catch {
                return Record(number: raw.number, result: .failure(error), source: source)
            }
        }
        return nil
    }

    /// A record without the wrappers of other databases.
    private func plain(_ text: [UInt8]) -> [UInt8] {
        guard isExtended, let record = try? extendedParser.parse(text) else { return text }
        return ExtendedJSON.plain(record) ?? text
    }

    /// Whether nobody has written the next line into the pipe yet.
    public var isWaiting: Bool {
        totalBytes == nil && !reader.hasLine && window.source.isDry
    }

    /// Bytes consumed so far, as stored on disk; for a pipe, the bytes read from it.
    public var consumedBytes: Int { window.source.consumedBytes }

    /// The size of the file on disk in bytes; nil for a pipe.
    public var totalBytes: Int? { window.source.totalBytes }

    /// What an archive left out; nil for nothing.
    public var note: String? { reader.note }

    // MARK: Looking ahead

    private func survey() throws(InterchangeError) {
        var survey = Survey(for: options.mapping)
        try forEachSample { survey.add($1) }
        understanding.records = survey.records
        understanding.fields = survey.fields
        understanding.geometries = survey.geometries
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

    /// The records at the beginning, as far as they are objects. They are read again afterwards.
    private func forEachSample(
        _ body: (RawRecord, RecordFields) -> Void
    ) throws(InterchangeError) {
        let first = reader
        let parser = JSONParser()
        try window.lookAhead { () throws(InterchangeError) in
            var limit = SampleLimit(window, all: options.surveysAll)
            while limit.goOn(hasLine: reader.hasLine) {
                // What stands before a fault of the file is delivered first.
                let next: RawRecord?
                do throws(InterchangeError) { next = try reader.next() } catch { break }
                guard let raw = next else {
                    understanding.isWhole = true
                    break
                }
                guard var view = try? parser.parse(raw.text) else { continue }
                if !format.isTable, view["_version"] == nil, let plain = ExtendedJSON.plain(view) {
                    isExtended = true
                    guard let parsed = try? parser.parse(plain) else { continue }
                    view = parsed
                }
                guard view.kind == .object, let fields = try? RecordFields(view, kind) else {
                    continue
                }
                withExtendedLifetime(parser) { body(raw, fields) }
            }
        }
        reader = first
    }

    private func findPlaces(_ survey: Survey) {
        let found = survey.places(
            understanding.mapping, isTable: format.isTable)
        understanding.mapping.places = found.rules
        for (rule, places, values) in found.doubts {
            understanding.warnings.append(
                "only \(places) of \(values) values of \(rule.paths.joined(separator: " and ")) are "
                    + "places, and none is taken; --place \(rule.text) takes them, and refuses the "
                    + "records with the others")
        }
        guard !found.rivals.isEmpty else { return }
        let flags = found.rivals.map { "--place \($0.text)" }.joined(separator: " or ")
        understanding.warnings.append(
            "\(found.rivals.count) places are possible and none is taken; say \(flags)")
    }

    /// Refuses a file whose latitudes and longitudes are exchanged: some latitude is beyond 90
    /// degrees, and none of the longitudes.
    private func checkOrder() throws(InterchangeError) {
        let mapping = understanding.mapping
        guard mapping.crs ?? .degrees == .degrees else { return }
        let geometry = PlaceRule(field: mapping.pointField, source: .value("geometry"))
        let hasOwn =
            understanding.geometries > 0 && !mapping.places.contains { $0.paths == ["geometry"] }
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
