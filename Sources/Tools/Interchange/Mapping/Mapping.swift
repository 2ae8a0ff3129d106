/// How the records of any format become objects: their places, ids and names.
///
///     var mapping = Mapping()
///     mapping.places = [try PlaceRule("location=lat,lng")]
///     mapping.id = .fields(["ref"])
///     mapping.flags                    // ["--place", "location=lat,lng", "--id", "ref"]
///
/// A mapping is a value. Applied to the same record it gives the same object, whatever file the
/// record came from.
public struct Mapping: Sendable, Hashable {
    /// Where places come from. Empty: they are looked for by the usual names.
    public var places: [PlaceRule] = []
    /// Whether places are looked for if `places` is empty.
    public var findsPlaces = true
    /// The field for a place that has no field of its own: of two fields, or a feature's geometry.
    public var pointField = "location"
    /// Where ids come from.
    public var id = IDRule.usual
    /// The field that keeps an id that is in no field.
    public var idField = "source_id"
    /// Whether `idField` is in all records.
    public var keepsID = false
    /// Whether the fields that made a place stay in the object as well.
    public var keepsPlaceFields = false
    /// What becomes of lines and areas.
    public var geometry = GeometryRule.refuse
    /// The reference system of the positions; nil: degrees, or what the file says.
    public var crs: ReferenceSystem?
    /// What becomes of names that the service reserves.
    public var underscores = UnderscoreRule.refuse
    /// Fields with new names.
    public var renames: [Rename] = []
    /// The only first-level fields to keep; nil keeps all.
    public var only: [String]?
    /// Field paths to leave out.
    public var without: [String] = []
    /// Whether nested objects become fields of the first level: `address.city`.
    public var flattens = false

    /// Looks for places and ids by their usual names and changes nothing else.
    public init() {}

    /// A field's old and new name.
    public struct Rename: Sendable, Hashable {
        /// The name in the file.
        public let from: String
        /// The name in the object.
        public let to: String

        /// `old=new`
        public init(_ text: String) throws(InterchangeError) {
            let parts = text.split(separator: "=", maxSplits: 1).map(String.init)
            guard parts.count == 2 else {
                throw InterchangeError("\"\(text)\": expected OLD=NEW, such as nom=name")
            }
            (from, to) = (parts[0], parts[1])
        }
    }

    /// The flags that say this mapping.
    public var flags: [String] {
        var flags = places.flatMap { ["--place", $0.text] }
        if places.isEmpty, !findsPlaces { flags += ["--place", "none"] }
        if pointField != "location" { flags += ["--point", pointField] }
        switch id {
        case .usual: break
        case .none: flags += ["--id", "none"]
        case .fields(let paths): flags += ["--id", paths.joined(separator: ",")]
        }
        if idField != "source_id" { flags += ["--id-field", idField] }
        if keepsPlaceFields { flags.append("--keep-place-fields") }
        if geometry != .refuse { flags += ["--geometry", geometry.rawValue] }
        if let crs { flags += ["--crs", crs.name] }
        if underscores != .refuse { flags += ["--underscores", underscores.text] }
        flags += renames.flatMap { ["--rename", "\($0.from)=\($0.to)"] }
        if let only { flags += ["--only", only.joined(separator: ",")] }
        if !without.isEmpty { flags += ["--without", without.joined(separator: ",")] }
        if flattens { flags.append("--flatten") }
        return flags
    }

    /// The field paths that the mapping names, each with its flag.
    var namedPaths: [(flag: String, path: String)] {
        var named = places.flatMap { place in place.paths.map { ("--place", $0) } }
        if case .fields(let paths) = id { named += paths.map { ("--id", $0) } }
        named += renames.map { ("--rename", $0.from) }
        named += (only ?? []).map { ("--only", $0) } + without.map { ("--without", $0) }
        return named
    }
}

/// Where the id of an object comes from.
public enum IDRule: Sendable, Hashable {
    /// `_id`, or the id of a GeoJSON feature; without one the service makes it.
    case usual
    /// The service makes it.
    case none
    /// Values of fields, joined by dots.
    case fields([String])

    /// `none`, or field paths with commas between them.
    public init(_ text: String) {
        self = text == "none" ? .none : .fields(text.split(separator: ",").map(String.init))
    }
}

/// What becomes of first-level names that begin with `_`, which the service reserves.
public enum UnderscoreRule: Sendable, Hashable {
    /// Their record is refused.
    case refuse
    /// They lose their leading underscores.
    case strip
    /// Their first underscore becomes another beginning.
    case keep(as: String)

    /// `strip`, `keep-as x_` or `refuse`.
    public init(_ text: String) throws(InterchangeError) {
        let words = text.split(whereSeparator: { $0 == " " || $0 == "=" }).map(String.init)
        switch (words.first, words.count) {
        case ("refuse", 1): self = .refuse
        case ("strip", 1): self = .strip
        case ("keep-as", 2) where !words[1].hasPrefix("_"): self = .keep(as: words[1])
        default:
            throw InterchangeError(
                "\"\(text)\": expected strip, refuse, or keep-as and a beginning, "
                    + "such as keep-as=x_")
        }
    }

    var text: String {
        switch self {
        case .refuse: "refuse"
        case .strip: "strip"
        case .keep(let beginning): "keep-as=\(beginning)"
        }
    }

    /// The name to store in the place of a reserved one.
    func name(for reserved: String) -> String {
        switch self {
        case .refuse: reserved
        case .strip: String(Substring(reserved.utf8.drop { $0 == UInt8(ascii: "_") }))
        case .keep(let beginning): beginning + String(Substring(reserved.utf8.dropFirst()))
        }
    }
}

/// A field of an object that gets a place, and where the place comes from.
public struct PlaceRule: Sendable, Hashable {
    /// The field of the object.
    public let field: String
    /// Where in the record the place is.
    public let source: Source

    /// Where a place is, as field paths.
    public enum Source: Sendable, Hashable {
        /// Two fields.
        case pair(latitude: String, longitude: String)
        /// One field, in any form that tells its order.
        case value(String)
        /// One field with text or an array of two numbers, of which the latitude may be the first.
        case ordered(String, isText: Bool, latitudeFirst: Bool)
    }

    /// Stores its arguments.
    public init(field: String, source: Source) { (self.field, self.source) = (field, source) }

    /// `location=lat,lng`, `spot=spot`, `coords=text:lat,lon` or `location=geo:array:lon,lat`.
    public init(_ text: String) throws(InterchangeError) {
        let halves = text.split(separator: "=", maxSplits: 1).map(String.init)
        guard halves.count == 2 else { throw Self.unreadable(text) }
        field = halves[0]
        let parts = halves[1].split(separator: ":").map(String.init)
        if parts.count > 1, ["lat,lon", "lon,lat"].contains(parts.last!),
            ["text", "array"].contains(parts[parts.count - 2])
        {
            let path = parts.dropLast(2).joined(separator: ":")
            source = .ordered(
                path.isEmpty ? field : path, isText: parts[parts.count - 2] == "text",
                latitudeFirst: parts.last! == "lat,lon")
            return
        }
        let fields = halves[1].split(separator: ",").map(String.init)
        switch fields.count {
        case 1: source = .value(fields[0])
        case 2: source = .pair(latitude: fields[0], longitude: fields[1])
        default: throw Self.unreadable(text)
        }
    }

    private static func unreadable(_ text: String) -> InterchangeError {
        InterchangeError(
            "\"\(text)\": expected FIELD=LATITUDE,LONGITUDE for two fields, FIELD=OTHER for one, "
                + "FIELD=text:lat,lon or FIELD=array:lon,lat")
    }

    /// The rule as the flag spells it.
    public var text: String {
        switch source {
        case .pair(let latitude, let longitude): "\(field)=\(latitude),\(longitude)"
        case .value(let path): "\(field)=\(path)"
        case .ordered(let path, let isText, let latitudeFirst):
            "\(field)=\(path == field ? "" : path + ":")\(isText ? "text" : "array"):"
                + (latitudeFirst ? "lat,lon" : "lon,lat")
        }
    }

    /// The field paths that it reads.
    var paths: [String] {
        switch source {
        case .pair(let latitude, let longitude): [latitude, longitude]
        case .value(let path), .ordered(let path, _, _): [path]
        }
    }

    /// The same with latitude and longitude exchanged.
    ///
    /// - Parameter isText: whether a value of no told order is text.
    func exchanged(isText: Bool) -> PlaceRule {
        switch source {
        case .pair(let latitude, let longitude):
            PlaceRule(field: field, source: .pair(latitude: longitude, longitude: latitude))
        case .value(let path):
            PlaceRule(
                field: field,
                source: .ordered(path, isText: isText, latitudeFirst: !isText))
        case .ordered(let path, let isText, let latitudeFirst):
            PlaceRule(
                field: field,
                source: .ordered(path, isText: isText, latitudeFirst: !latitudeFirst))
        }
    }
}
