import ArgumentParser
import GeoBucketClient
import Interchange
import JSONText
import Objects
import QueryLanguage

/// `geobucket query`: queries a bucket and prints the objects that match.
struct QueryCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "query",
        abstract:
            "Print the objects that match: with --near nearest first, with --along in its order.",
        discussion: """
            A condition is `field OP value`; OP is one of = != < <= > >= ^= (begins with) \
            ~ (contains) in. Conditions are joined by and, or, not and parentheses. \
            With --near, _calculated.distance is each object's distance in metres, and the answer is \
            ordered by it unless --order-by is given. With --along, _calculated.along is how far along \
            the line the object is, and _calculated.distance how far from it.

            Example: geobucket query --bucket airports --near 35.6812,139.7671 --within 100km \
            --where 'lighted = true and runway_m >= 2500' --fields name,city
            """)

    @OptionGroup var selection: ClauseOptions
    @OptionGroup var aggregation: AggregationOptions
    @OptionGroup var empty: EmptyOption
    @OptionGroup var server: ServerOption

    @Option(
        help: ArgumentHelp(
            "Order by these fields; :desc after a field reverses its order.",
            valueName: "field[:desc],…")
    )
    var orderBy: String?

    @Option(
        parsing: .unconditional,
        help: """
            How many objects to print, over as many pages as needed, or with --group-by how many \
            values. (default: one page, or 50 values)
            """)
    var limit: Int?

    @Option(help: ArgumentHelp("Only these fields of each object.", valueName: "a,b"))
    var fields: String?

    @Flag(help: "Print every match, over all pages.")
    var all = false

    @Option(help: "table, json, ndjson, geojson or csv.")
    var format = OutputFormat.table

    @Flag(help: "Print how the query would run instead of running it.")
    var explain = false

    func validate() throws {
        if let limit, limit < 1 { throw ValidationError("--limit has to be 1 or more") }
        if limit != nil, all { throw ValidationError("--limit and --all contradict each other") }
        guard !aggregation.isEmpty else { return }
        if all || fields != nil || orderBy != nil || format == .geojson {
            throw ValidationError(
                "--group-by, --min, --max, --sum and --avg go with neither --all, --fields, "
                    + "--order-by nor GeoJSON")
        }
        if limit != nil, aggregation.groupBy == nil {
            throw ValidationError("--limit needs --group-by here: there is one row for each figure")
        }
    }

    func run() async throws {
        var query = Query(clause: try selection.clause())
        query.order = try selection.order(orderBy)
        query.aggregations = aggregation.aggregations(limit: limit)
        query.fields = fields.map { $0.split(separator: ",").map { Array($0.utf8) } }
        let request = PageRequest(
            bucket: selection.bucket, query: query, asksForHints: !explain)
        let (all, explain, limit, options, format) = (all, explain, limit, writingOptions, format)
        let aggregation = aggregation
        let finding = try await server.connect { connection -> Finding in
            if explain {
                let plan = try await Self.answer("bucket.explain", request, connection)
                try Console.write(
                    format == .table ? try Self.summary(of: plan) : plan + [UInt8(ascii: "\n")])
                return Finding(isEmpty: false)
            }
            var writer = format.writer(options)
            if !aggregation.isEmpty {
                let answer = try await Self.answer("bucket.query", request, connection)
                return try aggregation.print(answer, with: &writer)
            }
            let wanted = all ? Int.max : limit
            let (hasMore, finding) = try await request.pages(connection, upTo: wanted) {
                object, output in
                try writer.write(object, to: &output)
            }
            var output: [UInt8] = []
            try writer.finish(to: &output)
            try Console.write(output)
            if hasMore, limit == nil {
                Console.error("more objects match: --all or --limit brings them", prefix: "")
            }
            return finding
        }
        try empty.conclude(finding)
    }

    /// The answer to one call. Only the service knows how many groups --limit may ask for.
    private static func answer(
        _ method: String, _ request: PageRequest, _ connection: LineConnection
    ) async throws -> [UInt8] {
        do {
            return try await connection.call(method, request.params(after: nil))
        } catch ClientFailure.refused(let failure)
            where failure.path?.hasSuffix(".aggregations[0].limit") == true
        {
            throw ValidationError("--limit: \(failure.message)")
        }
    }

    /// The sentences of a plan, one a line.
    private static func summary(of plan: [UInt8]) throws -> [UInt8] {
        try JSONParser.reading(plan) { view in
            view["summary"]?.elements.flatMap {
                Array($0.utf8 ?? .init(start: nil, count: 0)) + [UInt8(ascii: "\n")]
            } ?? []
        }
    }

    private var writingOptions: WritingOptions {
        var options = WritingOptions()
        options.width = Console.columns
        options.isBold = Console.takesStyle
        options.isForTerminal = Console.outputIsTerminal
        options.pointField = selection.geometryField
        options.columnsIfEmpty =
            aggregation.groupBy != nil
            ? ["value", "count"]
            : ["_id"] + (fields?.split(separator: ",").map(String.init) ?? [])
                + selection.reportedNames.map { "_calculated.\($0)" }
        return options
    }
}

extension OutputFormat: ExpressibleByArgument {}

/// `geobucket count`: counts the objects that match.
struct Count: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Count the objects that match.",
        discussion: "Takes the same conditions as `geobucket query`.")

    @OptionGroup var selection: ClauseOptions
    @OptionGroup var empty: EmptyOption
    @OptionGroup var server: ServerOption

    func run() async throws {
        let request = PageRequest(
            bucket: selection.bucket, query: Query(clause: try selection.clause()))
        let result = try await server.connect { connection in
            try await connection.call("bucket.count", request.countParams)
        }
        let (count, finding) = try JSONParser.reading(result) { view in
            guard let count = view["count"]?.number?.exactInt else {
                throw CommandFailure("the service did not answer with a count")
            }
            var finding = Finding(isEmpty: count == 0)
            finding.take(view)
            return (count, finding)
        }
        try Console.write("\(count)\n")
        try empty.conclude(finding)
    }
}
