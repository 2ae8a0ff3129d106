import ArgumentParser
import Geodesy
import Interchange
import JSONText
import Objects
import QueryLanguage

/// The flags of `query` and `count` that select objects.
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

    @Option(help: "The GeoPoint field for --near and --box. (default: location)")
    var field: String?

    private var path: FieldPath { FieldPath(field ?? "location") }

    /// The field of the geometry in GeoJSON; nil if no flag refers to a field.
    var geometryField: String? {
        field ?? (near == nil && box == nil ? nil : path.text)
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

    /// The name of the distance from --near.
    static let distanceName = "distance"

    func validate() throws { try usage("--bucket") { _ = try BucketName(bucket) } }

    /// The clause of all flags together.
    func clause() throws -> Clause {
        var parts: [Clause] = []
        if let near = try nearby() { parts.append(.geo(near)) }
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
        var radiusMeters = Double.infinity
        if let within {
            radiusMeters = try usage("--within") { try Length.parse(within) }
            guard radiusMeters > 0, radiusMeters <= GeoCircle.maximumRadiusMeters else {
                throw ValidationError(
                    "--within: \(within) is outside 0...\(Int(GeoCircle.maximumRadiusMeters)) m")
            }
        }
        let circle = GeoCircle(center, radiusMeters: radiusMeters)
        return GeoClause(
            path, .circle(circle),
            reports: [ReportedDistance(Self.distanceName, of: path, by: circle.distance)])
    }

    private func parse(_ text: String) throws -> Clause {
        let document = Array("{\"bucketQuery\":{\"clause\":\(text)}}".utf8)
        return try JSONParser.reading(document) { view in
            var reader = MemberReader(params: view)
            return try QueryParser(limits: Limits()).bucketQuery(from: &reader).clause
        }
    }
}
