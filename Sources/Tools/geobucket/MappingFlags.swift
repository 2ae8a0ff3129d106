import ArgumentParser
import Interchange

/// The flags that say how a file is read and what its records become, for `load` and `inspect`.
struct MappingFlags: ParsableArguments {
    @Option(help: ArgumentHelp("\(Self.formats). (default: by the file's name)"))
    var format: InputFormat?

    @Option(
        help: ArgumentHelp(
            """
            A place: FIELD=LATITUDE,LONGITUDE from two fields, FIELD=OTHER from one in any usual \
            form, FIELD=text:lat,lon, FIELD=array:lon,lat, or none. Repeatable. (default: found by the \
            usual names)
            """, valueName: "field=spec"))
    var place: [String] = []

    @Option(help: "The field for a place that has none of its own.")
    var point = "location"

    @Option(help: ArgumentHelp("The field of the latitude; with --longitude.", valueName: "field"))
    var latitude: String?

    @Option(help: ArgumentHelp("The field of the longitude; with --latitude.", valueName: "field"))
    var longitude: String?

    @Option(
        help: ArgumentHelp(
            "The fields whose values, joined by dots, are the id; none: the service makes it.",
            valueName: "field,…"))
    var id: String?

    @Option(
        help: ArgumentHelp(
            "The field that keeps an id that is in no field. (default: source_id, if one is not valid)",
            valueName: "field"))
    var idField: String?

    @Option(help: "What becomes of lines and areas: point (on them), centroid or refuse.")
    var geometry = GeometryRule.refuse

    @Option(
        help: ArgumentHelp(
            "The reference system of the positions, such as EPSG:3857.", valueName: "name"))
    var crs: String?

    @Option(
        help: ArgumentHelp(
            "Names that begin with _: strip, keep-as x_, or refuse.", valueName: "rule"))
    var underscores = "refuse"

    @Option(help: ArgumentHelp("A new name for a field; repeatable.", valueName: "old=new"))
    var rename: [String] = []

    @Option(help: ArgumentHelp("The only fields to keep.", valueName: "field,…"))
    var only: String?

    @Option(help: ArgumentHelp("Fields to leave out.", valueName: "field,…"))
    var without: String?

    @Flag(help: "Make nested fields fields of the first level: address.city.")
    var flatten = false

    @Flag(help: "Keep the fields that made a place as well.")
    var keepPlaceFields = false

    @Option(help: ArgumentHelp("JSON: the array that has the records.", valueName: "path"))
    var records: String?

    @Option(
        help: ArgumentHelp(
            "A file with flags like these, as `inspect --flags` prints them.", valueName: "file"))
    var mapping: String?

    @Option(help: "The text's encoding: utf-8, utf-16, windows-1252. (default: found out)")
    var encoding: String?

    @OptionGroup(title: "Tables") var table: TableFlags
    @OptionGroup(title: "Property lists") var list: PropertyListFlags

    private static let formats = InputFormat.allCases.map(\.rawValue).joined(separator: ", ")

    /// What the flags say.
    ///
    /// - Throws: `ValidationError` for a flag that cannot be understood.
    func options() throws -> ReadingOptions {
        var options = ReadingOptions()
        options.mapping = try readMapping()
        options.records = records
        options.table = try table.options()
        options.encoding = try encoding.map { name in
            guard let encoding = TextEncoding(named: name) else {
                throw ValidationError(
                    "--encoding: \"\(name)\" is not known; there are utf-8, utf-16, utf-16be and "
                        + "windows-1252")
            }
            return encoding
        }
        options.archive.keys = list.key
        options.archive.valueField = list.value
        options.archive.archive.cutsReferences = list.cycles == .cut
        return options
    }

    private func readMapping() throws -> Mapping {
        var mapping = Mapping()
        mapping.findsPlaces = place != ["none"]
        mapping.places =
            try mapping.findsPlaces
            ? place.map { text in try usage("--place") { try PlaceRule(text) } } : []
        switch (latitude, longitude) {
        case (nil, nil): break
        case (let latitude?, let longitude?):
            mapping.places.append(
                PlaceRule(field: point, source: .pair(latitude: latitude, longitude: longitude)))
        default: throw ValidationError("--latitude and --longitude go together")
        }
        mapping.pointField = point
        if let id { mapping.id = IDRule(id) }
        if let idField { (mapping.idField, mapping.keepsID) = (idField, true) }
        mapping.geometry = geometry
        mapping.crs = try crs.map { name in
            guard let system = ReferenceSystem(name) else {
                throw ValidationError("--crs: \(ReferenceSystem.refusal(name))")
            }
            return system
        }
        mapping.underscores = try usage("--underscores") { try UnderscoreRule(underscores) }
        mapping.renames = try rename.map { text in
            try usage("--rename") { try Mapping.Rename(text) }
        }
        mapping.only = only.map(Self.names)
        mapping.without = without.map(Self.names) ?? []
        (mapping.flattens, mapping.keepsPlaceFields) = (flatten, keepPlaceFields)
        return mapping
    }

    private static func names(_ text: String) -> [String] {
        text.split(separator: ",").map(String.init)
    }

    /// Refuses flags that the file's format does not use.
    func check(for format: InputFormat) throws {
        let isText = !InputFormat.documents.contains(format)
        for (flag, isGiven, isUsed, formats) in [
            ("--records", records != nil, format == .json, "json"),
            ("--encoding", encoding != nil, isText, "csv, tsv, ndjson, json and geojson"),
        ] + table.given.map({ ($0, true, format.isTable, "csv and tsv") })
            + list.given.map({ ($0, true, format == .plist, "plist") }) where isGiven && !isUsed
        {
            throw ValidationError(
                "\(flag) has no effect on \(format.rawValue); the formats that take it: \(formats)")
        }
    }
}

/// The flags for tables.
struct TableFlags: ParsableArguments {
    @Option(help: "The character between cells: , ; | or tab. (default: found out)")
    var separator: String?

    @Option(help: "The character before the fraction of numbers: . or , (default: found out)")
    var decimal: String?

    @Flag(help: "The first row has no names; the columns are column1, column2 and so on.")
    var noHeader = false

    @Option(help: ArgumentHelp("A column of texts; repeatable.", valueName: "column"))
    var text: [String] = []

    @Option(help: ArgumentHelp("A column of numbers; repeatable.", valueName: "column"))
    var number: [String] = []

    @Option(help: ArgumentHelp("A column of booleans; repeatable.", valueName: "column"))
    var boolean: [String] = []

    @Option(
        help: ArgumentHelp(
            "A column of dates, which become milliseconds; repeatable.",
            valueName: "column[=%d.%m.%Y]"))
    var date: [String] = []

    @Option(help: "What becomes of empty cells: missing, null or text.")
    var empty: TableOptions.EmptyCells?

    @Flag(help: "Make columns such as address.city nested fields.")
    var nest = false

    /// The flags that are given.
    var given: [String] {
        [
            ("--separator", separator != nil), ("--decimal", decimal != nil),
            ("--no-header", noHeader), ("--text", !text.isEmpty), ("--number", !number.isEmpty),
            ("--boolean", !boolean.isEmpty), ("--date", !date.isEmpty), ("--empty", empty != nil),
            ("--nest", nest),
        ].filter(\.1).map(\.0)
    }

    func options() throws -> TableOptions {
        var options = TableOptions()
        options.separator = try separator.map { text in
            let byte = text == "tab" || text == "\\t" ? "\t" : text
            guard byte.utf8.count == 1 else {
                throw ValidationError("--separator: \"\(text)\" is no single character, nor tab")
            }
            return byte.utf8.first!
        }
        options.decimal = try decimal.map { text in
            guard text == "." || text == "," else {
                throw ValidationError("--decimal: expected . or , and not \"\(text)\"")
            }
            return text.utf8.first!
        }
        if noHeader { options.hasHeader = false }
        for name in text { options.types[name] = .text }
        for name in number { options.types[name] = .number(comma: decimal != ".") }
        for name in boolean { options.types[name] = .boolean }
        for name in date {
            let parts = name.split(separator: "=", maxSplits: 1).map(String.init)
            options.types[parts.first ?? name] = .date(format: parts.count == 2 ? parts[1] : nil)
        }
        if let empty { options.empty = empty }
        options.nests = nest
        return options
    }
}

/// The flags for archives and other property lists.
struct PropertyListFlags: ParsableArguments {
    @Option(help: ArgumentHelp("A top-level key to read; repeatable.", valueName: "name"))
    var key: [String] = []

    @Option(help: ArgumentHelp("The field for values that are not objects.", valueName: "field"))
    var value: String?

    @Option(
        help: "References back to an object around them: refuse, or cut, which leaves them out.")
    var cycles: Cycles?

    enum Cycles: String, ExpressibleByArgument, CaseIterable { case refuse, cut }

    /// The flags that are given.
    var given: [String] {
        [("--key", !key.isEmpty), ("--value", value != nil), ("--cycles", cycles != nil)]
            .filter(\.1).map(\.0)
    }
}

extension InputFormat: ExpressibleByArgument {
    /// The formats that are read as a whole, and tell their encoding.
    static let documents: [InputFormat] = [.gpx, .kml, .plist]
}

extension GeometryRule: ExpressibleByArgument {}
extension TableOptions.EmptyCells: ExpressibleByArgument {}
