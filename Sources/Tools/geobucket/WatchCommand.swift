import ArgumentParser
import GeoBucketClient
import Glibc
import Interchange
import JSONText
import Objects
import QueryLanguage
import UnixSignals

/// `geobucket watch`: prints what enters, changes and leaves, as it happens.
struct WatchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch",
        abstract: "Print what matches, then what enters, changes and leaves, as it happens.",
        discussion: """
            A line an event: `+` for an object that matches now, `~` for one that has changed, `-` for \
            one that matches no longer, with the reason. It goes on until Ctrl-C, also when the service \
            restarts. With --limit it is a ranking: the first so many in the order of --order-by, with \
            their places. The conditions are those of `geobucket query`.

            Example: geobucket watch --bucket couriers --near 35.68,139.76 --within 2km --fields name
            """)

    @OptionGroup var selection: ClauseOptions
    @OptionGroup var flags: WatchFlags
    @OptionGroup var server: ServerOption

    @Option(
        help: ArgumentHelp(
            "With --limit: the order of the ranking; :desc after a field reverses it.",
            valueName: "field[:desc],…"))
    var orderBy: String?

    @Option(
        parsing: .unconditional,
        help: "Watch only the first so many, 1 to 200. (default: everything that matches)")
    var limit: Int?

    @Option(help: ArgumentHelp("Only these fields of each object.", valueName: "a,b"))
    var fields: String?

    @Option(help: "lines, for people, or ndjson.")
    var format = Format.lines

    @Option(
        help: ArgumentHelp(
            "Keep the place in this file, and go on from there at the next start.",
            valueName: "file"))
    var resumeFile: String?

    enum Format: String, ExpressibleByArgument, CaseIterable {
        case lines, ndjson
    }

    func validate() throws {
        if let limit, !(1...200).contains(limit) {
            throw ValidationError("--limit has to be 1 to 200")
        }
        if limit == nil, orderBy != nil || flags.interval != nil {
            throw ValidationError("--order-by and --interval need --limit")
        }
        if flags.pairs != nil, limit != nil || fields != nil || resumeFile != nil {
            throw ValidationError("--pairs goes with neither --limit, --fields nor --resume-file")
        }
        if flags.centerObject != nil, selection.near != nil {
            throw ValidationError("--near and --center-object exclude each other")
        }
        try checkRadii()
    }

    /// Refuses radii that do not belong together. A clause of --clause may have the circle.
    private func checkRadii() throws {
        let hasCenter = selection.near != nil || flags.centerObject != nil
        if flags.pairs != nil {
            let hasField = hasCenter || selection.box != nil || selection.along != nil
            guard hasField || !selection.clauses.isEmpty else {
                throw ValidationError("--pairs needs --near, --center-object, --box or --along")
            }
        } else if flags.leaveWithin != nil {
            if limit != nil {
                throw ValidationError("--leave-within and --limit exclude each other")
            }
            guard hasCenter && selection.within != nil || !selection.clauses.isEmpty else {
                throw ValidationError(
                    "--leave-within needs --within, with --near or --center-object")
            }
        }
        if let leave = try flags.leaveMeters(),
            let within = try flags.pairs == nil ? selection.withinMeters() : flags.pairsMeters(),
            leave < within
        {
            let name = flags.pairs == nil ? "--within" : "--pairs-within"
            throw ValidationError("--leave-within has to be at least \(name)")
        }
    }

    func run() async throws {
        let client = try server.client()
        let bucket = client.bucket(selection.bucket)
        let query = try query(client)
        let pairs = try flags.pairWatch(query, in: bucket)
        let more = try parameters()
        let token = try Self.token(in: resumeFile)
        if let path = self.resumeFile { try Files.checkWritable(path) }
        let (resumeFile, names) = (resumeFile, fieldNames)
        let format = format
        do {
            try await Self.untilSignal {
                if let pairs {
                    try await WatchPrinter(format, fields: nil, resumeFile: nil).follow(pairs)
                } else {
                    let watch = bucket.watchTexts(query, more: more, resume: token)
                    try await WatchPrinter(format, fields: names, resumeFile: resumeFile)
                        .follow(watch)
                }
            }
        } catch let failure as ClientFailure {
            await client.close()
            throw try server.explained(failure)
        }
        await client.close()
    }

    /// Runs `body` until it ends, or SIGINT or SIGTERM ends it.
    private static func untilSignal(_ body: @escaping @Sendable () async throws -> Void)
        async throws
    {
        try await withThrowingTaskGroup(of: Void.self) { group in
            let signals = await UnixSignalsSequence(trapping: .sigint, .sigterm)
            group.addTask {
                do { try await body() } catch is CancellationError {}
            }
            group.addTask {
                for await _ in signals { return }
            }
            try await group.next()
            group.cancelAll()
            try await group.waitForAll()
        }
    }

    // MARK: What is watched

    private var fieldNames: [String]? {
        fields.map { $0.split(separator: ",").map(String.init) }
    }

    private func query(_ client: ServiceClient) throws -> BucketQuery {
        let center = try flags.center(in: client)
        let selected = try selection.clause(isCentered: center != nil)
        var clause = GeoBucketClient.Clause(json: try selected.json)
        if let center {
            let moving = GeoBucketClient.Clause.geoDistance(
                selection.pointField, center: center, radius: try selection.withinMeters(),
                putDistanceInto: ClauseOptions.distanceName)
            clause = selected == .all ? moving : moving && clause
        }
        let query = BucketQuery(clause: clause)
        query.fields = fieldNames
        guard let limit else { return query }
        query.limit = limit
        query.order = try selection.order(orderBy).map { key in
            let name =
                switch key.source {
                case .field(let path): path.text
                case .distance(let name): "_calculated.\(name)"
                }
            return BucketQuery.SortKey(name, descending: key.descending)
        }
        if query.order.isEmpty, center != nil {
            query.sort(byAsc: "_calculated.\(ClauseOptions.distanceName)")
        }
        return query
    }

    /// Params of `watch.start` besides the query.
    private func parameters() throws -> [JSONValue.Member] {
        var members: [JSONValue.Member] = []
        if let meters = try flags.leaveMeters() {
            members.append(.init("leaveRadius", .double(meters)))
        }
        if let interval = flags.interval {
            members.append(.init("intervalMilliseconds", .int(interval)))
        }
        return members
    }

    /// The token in a file; nil if there is no such file yet.
    private static func token(in path: String?) throws -> String? {
        guard let path, access(path, F_OK) == 0 else { return nil }
        let text = String(decoding: try Files.contents(of: path), as: UTF8.self)
        let token = String(text.prefix { !$0.isWhitespace })
        return token.isEmpty ? nil : token
    }
}

extension ServerOption {
    /// A client of the service. It does not wait for one that cannot be reached at the start.
    fileprivate func client() throws -> ServiceClient {
        try AddressSpace.check()
        var configuration = ClientConfiguration()
        configuration.token = try token()
        configuration.tls = try clientTLS()
        configuration.retryTime = .zero
        let address = try address()
        return ServiceClient(
            ServiceAddress(host: address.host, port: address.port), configuration: configuration)
    }
}
