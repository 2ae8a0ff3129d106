import ArgumentParser
import Geodesy
import Interchange
import JSONText
import Objects
import QueryLanguage

/// The flags of `query`, `count` and `watch` that select objects.
struct ClauseOptions: ParsableArguments {
    @Option(help: "The bucket to query.")
    var bucket: String

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Measure distances from this position.", valueName: "lat,lon"))
    var near: String?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "With --near: the greatest distance (m, km, mi, nmi, ft).", valueName: "length"))
    var within: String?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Only objects in this rectangle.", valueName: "south,west,north,east"))
    var box: String?

    @Option(
        help: ArgumentHelp(
            "With --width: only objects beside the LineString in this GeoJSON file.",
            valueName: "file"))
    var along: String?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "With --along: the greatest distance to either side of the line.", valueName: "length"))
    var width: String?

    @Option(help: "The GeoPoint field for --near, --box and --along. (default: location)")
    var field: String?

    private var path: FieldPath { FieldPath(field ?? "location") }

    /// The field of the geometry in GeoJSON; nil if no flag refers to a field.
    var geometryField: String? {
        field ?? (near == nil && box == nil && along == nil ? nil : path.text)
    }

    @Option(
        name: .customLong("where"), parsing: .unconditionalSingleValue,
        help: ArgumentHelp(
            "A condition such as 'kind = shop and rating >= 4'; several must all hold.",
            valueName: "expr"))
    var conditions: [String] = []

    @Option(
        name: .customLong("clause"),
        help: ArgumentHelp("A clause of the query language, as JSON.", valueName: "json"))
    var clauses: [String] = []

    /// The name of the distance from --near, without it of the one from the line of --along.
    static let distanceName = "distance"

    /// The name of the place along the line of --along.
    private static let alongName = "along"

    /// The names of the distances that objects report; the first orders the answer.
    var reportedNames: [String] {
        let line = along == nil ? [] : [Self.alongName]
        if near != nil { return [Self.distanceName] + line }
        return along == nil ? [] : line + [Self.distanceName]
    }

    func validate() throws { try usage("--bucket") { _ = try BucketName(bucket) } }

    /// The field of the flag, else `location`.
    var pointField: String { path.text }

    /// The length of --within in metres; nil without the flag.
    func withinMeters() throws -> Double? {
        try within.map {
            try Self.length($0, of: "--within", atMost: GeoCircle.maximumRadiusMeters)
        }
    }

    /// The clause of all flags together.
    ///
    /// - Parameter isCentered: whether --within belongs to a centre of another flag, whose clause the
    ///   caller adds.
    func clause(isCentered: Bool = false) throws -> Clause {
        var parts: [Clause] = []
        if isCentered {
            if near != nil {
                throw ValidationError("--near and --center-object exclude each other")
            }
        } else if let near = try nearby() {
            parts.append(.geo(near))
        }
        if let beside = try besideLine() { parts.append(.geo(beside)) }
        if let box {
            let box = try usage("--box") { try parseBox(box) }
            parts.append(.geo(GeoClause(path, .box(box))))
        }
        for condition in conditions {
            parts.append(try usage("--where") { try FilterExpression.parse(condition) })
        }
        for text in clauses { parts.append(try usage("--clause") { try parse(text) }) }
        return parts.isEmpty ? .all : (parts.count == 1 ? parts[0] : .and(parts))
    }

    private func nearby() throws -> GeoClause? {
        guard let near else {
            if within != nil { throw ValidationError("--within needs --near") }
            return nil
        }
        let center = try usage("--near") { try parseCoordinate(near) }
        let circle = GeoCircle(center, radiusMeters: try withinMeters() ?? .infinity)
        return GeoClause(
            path, .circle(circle),
            reports: [ReportedDistance(Self.distanceName, of: path, by: circle.distance)])
    }

    private func besideLine() throws -> GeoClause? {
        guard let along, let width else {
            if along != nil { throw ValidationError("--along needs --width") }
            if width != nil { throw ValidationError("--width needs --along") }
            return nil
        }
        let line = try usage("--along \(along)") { try LineFile.read(along) }
        let meters = try Self.length(width, of: "--width", atMost: GeoCorridor.maximumWidthMeters)
        let corridor = GeoCorridor(line, widthMeters: meters)
        var reports = [ReportedDistance(Self.alongName, of: path, by: corridor.along)]
        if near == nil {
            reports.insert(
                ReportedDistance(Self.distanceName, of: path, by: corridor.distance), at: 0)
        }
        return GeoClause(path, .corridor(corridor), reports: reports)
    }

    static func length(
        _ text: String, of flag: String, atMost maximum: Double
    ) throws -> Double {
        let meters = try usage(flag) { try Length.parse(text) }
        guard meters <= maximum else {
            throw ValidationError("\(flag): \(text) is outside 0...\(Int(maximum)) m")
        }
        return meters
    }

    private func parse(_ text: String) throws -> Clause {
        // One value, nothing behind it.
        try JSONParser.reading(Array(text.utf8)) { _ in }
        let document = Array("{\"bucketQuery\":{\"clause\":\(text)}}".utf8)
        return try JSONParser.reading(document) { view in
            var reader = MemberReader(params: view)
            return try QueryParser(limits: Limits()).bucketQuery(from: &reader).clause
        }
    }
}
