import ArgumentParser
import GeoBucketClient
import Geodesy
import JSONText
import Objects
import QueryLanguage

/// The flags that only `watch` has: moving centres, two radii, pairs.
struct WatchFlags: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Instead of --near: measure from this object, wherever it is.",
            valueName: "bucket/id[/field]"))
    var centerObject: String?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "Objects enter within --within and leave beyond this distance; so nothing flickers.",
            valueName: "length"))
    var leaveWithin: String?

    @Option(
        help: ArgumentHelp(
            "With --limit: the least time between two changes, up to 1m; milliseconds without a unit.",
            valueName: "time"), transform: Measure.milliseconds.argument)
    var interval: Int?

    @Option(
        help: ArgumentHelp(
            "Instead of single objects: pairs with an object of this bucket that are close.",
            valueName: "bucket"))
    var pairs: String?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "With --pairs: how near is met; --leave-within is how far is parted.",
            valueName: "length"))
    var pairsWithin: String?

    @Option(help: "With --pairs: the GeoPoint field of the other side. (default: location)")
    var pairsField: String?

    @Option(
        name: .customLong("pairs-where"), parsing: .unconditionalSingleValue,
        help: ArgumentHelp(
            "With --pairs: a condition on the other side; several must all hold.",
            valueName: "expr"))
    var pairsConditions: [String] = []

    func validate() throws {
        if pairs == nil, pairsWithin != nil || pairsField != nil || !pairsConditions.isEmpty {
            throw ValidationError("--pairs-within, --pairs-field and --pairs-where need --pairs")
        }
        if pairs != nil, pairsWithin == nil {
            throw ValidationError("--pairs needs --pairs-within")
        }
        if let interval, !(0...60_000).contains(interval) {
            throw ValidationError("--interval has to be 0 to 60000")
        }
    }

    /// The object of --center-object; a bucket of a scope has three parts.
    func center(in client: ServiceClient) throws -> GeoBucketClient.MovingCenter? {
        guard let centerObject else { return nil }
        let parts = centerObject.split(separator: "/", omittingEmptySubsequences: false)
            .map(String.init)
        let isScoped = ["users", "groups", "things"].contains(parts[0])
        let (bucket, rest) = (parts.prefix(isScoped ? 3 : 1), parts.dropFirst(isScoped ? 3 : 1))
        guard (1...2).contains(rest.count), let id = rest.first else {
            throw ValidationError("--center-object: \"\(centerObject)\" is no BUCKET/ID[/FIELD]")
        }
        let name = bucket.joined(separator: "/")
        try usage("--center-object") {
            _ = try BucketName(name)
            _ = try ObjectID(id, at: "id")
        }
        return GeoBucketClient.MovingCenter(
            of: id, in: client.bucket(name), field: rest.count == 2 ? rest.last! : "location")
    }

    func leaveMeters() throws -> Double? {
        try leaveWithin.map { try Self.meters("--leave-within", $0) }
    }

    func pairsMeters() throws -> Double? {
        try pairsWithin.map { try Self.meters("--pairs-within", $0) }
    }

    /// The watch of --pairs; nil without the flag.
    func pairWatch(_ query: BucketQuery, in bucket: Bucket) throws -> Watch<Pair>? {
        guard let pairs, let radius = try pairsMeters() else { return nil }
        try usage("--pairs") { _ = try BucketName(pairs) }
        let conditions = try pairsConditions.map { text in
            try usage("--pairs-where") { try FilterExpression.parse(text) }
        }
        let clause = conditions.count > 1 ? .and(conditions) : conditions.first
        return bucket.watchPairs(
            query, with: bucket.client.bucket(pairs), field: pairsField ?? "location",
            clause: try clause.map { GeoBucketClient.Clause(json: try $0.json) },
            radius: radius, leaveRadius: try leaveMeters())
    }

    private static func meters(_ flag: String, _ text: String) throws -> Double {
        try ClauseOptions.length(text, of: flag, atMost: GeoCircle.maximumRadiusMeters)
    }
}

extension QueryLanguage.Clause {
    /// The clause as a document of the query language.
    var json: JSONValue {
        get throws {
            var writer = JSONWriter()
            write(to: &writer)
            return try JSONValue(parsing: writer.bytes)
        }
    }
}
