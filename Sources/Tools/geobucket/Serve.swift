import ArgumentParser
import BackendContract
import EmbeddedBackend
import Foundation
import LiveQueries
import Logging
import Objects
import QueryServer
import Runtime
import ServiceDesk
import ServiceLifecycle
import WebServer

/// `geobucket serve`: runs the service until SIGTERM or SIGINT.
struct Serve: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Run the service.",
        discussion: """
            When the service can answer, it prints `geobucket ready on HOST:PORT` to standard output. On \
            SIGTERM or SIGINT it accepts no more connections, answers what it has read, and exits with 0.

            Every flag can also be set in the environment (--log-level is GEOBUCKET_LOG_LEVEL) or in a \
            JSON file given with --config (\"logLevel\": \"debug\"), in this order of precedence. Sizes take \
            KB, MB, GB, KiB, MiB and GiB, times ms, s, m, h and d.

            `geobucket serve --help-all` has the flags for everything else: limits, clusters, pages of \
            other origins, signed tokens.
            """)

    @Option(
        help: ArgumentHelp(
            "Address to listen on; port 0 takes a free one. (default: \(Address.standard))",
            valueName: "host:port"))
    var listen: String?

    @Option(
        help: ArgumentHelp(
            "Address for health and metrics over HTTP, usually port 4363; without it they are not served.",
            valueName: "host:port"))
    var http: String?

    @Option(
        help: ArgumentHelp(
            "The store's file, created when missing, or the address of a PostgreSQL database that several services share: postgresql://USER@HOST/DATABASE. (default: ./geobucket.sqlite)",
            valueName: "path-or-url"))
    var store: String?

    @Option(help: ArgumentHelp("A JSON file of settings.", valueName: "path"))
    var config: String?

    @Option(
        help: "trace, debug, info, notice, warning, error or critical. (default: info)")
    var logLevel: String?

    @Option(
        help: ArgumentHelp(
            "Log lines for people (text) or as JSON objects (json). (default: text)",
            valueName: "text|json", visibility: .hidden))
    var logFormat: String?

    @Option(
        help: ArgumentHelp(
            "What an answered write survives: loss of power (full), or only a crash of the process (normal). (default: full)",
            valueName: "full|normal"))
    var durability: String?

    @Option(
        help: ArgumentHelp(
            "What gets priority when the processors are overloaded: neither (balance), reads or writes. (default: balance)",
            valueName: "balance|reads|writes", visibility: .hidden))
    var prefer: String?

    @Option(
        help: ArgumentHelp(
            "How long a stop waits for pending answers; seconds without a unit. (default: 8)",
            valueName: "time", visibility: .hidden), transform: Measure.seconds.argument)
    var drainSeconds: Int?

    @OptionGroup(title: "Backups") var backupFlags: BackupFlags

    @OptionGroup(title: "Web") var webFlags: WebFlags

    @OptionGroup(title: "Cluster", visibility: .hidden) var clusterFlags: ClusterFlags

    @OptionGroup(title: "Access") var accessFlags: AccessFlags

    @OptionGroup(title: "Audit") var auditFlags: AuditFlags

    @OptionGroup(title: "Quotas") var quotaFlags: QuotaFlags

    @OptionGroup(title: "Limits") var limitFlags: LimitFlags

    func run() async throws {
        Stopping.begin()
        let settings = try await Settings(file: config)
        let address = try settings.address("listen", flag: listen) ?? .standard
        let limits = try limitFlags.limits(settings)
        let (logger, threshold) = try logger(settings)
        let rules = try quotaFlags.rules(settings)
        guard try rules.isEmpty || !clusterFlags.sharesBuckets(settings) else {
            throw ValidationError(
                "--quota counts what a node holds, and with --copies no node holds all of a scope")
        }
        limits.quotas.replace(rules: rules)
        let stopping = Stopping(logger: logger)
        let drain = try settings.int("drainSeconds", flag: drainSeconds) ?? 8
        guard (0...86_400).contains(drain) else {
            throw ValidationError("--drain-seconds has to be 0 to 86400")
        }
        let clock = ServiceClock()
        let access = try await accessFlags.access(settings, limits, clock, logger: logger)
        try accessFlags.check(address, hasLogins: access != nil, settings)
        if try !limits.quotas.isEmpty && clusterFlags.sharesBuckets(settings) {
            logger.warning(
                "tokens have quotas, which count only the buckets that a node holds: see --copies")
        }
        let web = try webFlags.settings(settings, hasLogins: access != nil)
        if let web {
            try accessFlags.check(web.address, hasLogins: access != nil, settings)
        }
        let audit = try auditFlags.log(settings, limits, clock, logger)
        defer { audit?.end() }
        let reloading = Reloading(
            access: access,
            tls: try accessFlags.tls(
                settings, limits, nodeAuthority: clusterFlags.authority(settings)),
            audit: audit,
            configuration: Reconfiguration(
                settings, limits, reader, threshold: threshold, audit: audit, logger: logger),
            clock: clock, logger: logger)
        let frame = Frame(
            address: address, web: web, limits: limits, drain: .seconds(drain),
            reloading: reloading, stopping: stopping,
            everybody: try accessFlags.everybody(settings),
            proxies: try accessFlags.proxies(settings),
            neighbourhood: try clusterFlags.neighbourhood(settings), clock: clock)
        try prepareProcess(settings, limits, logger)
        noteStart(settings, logger)
        let store = try store(settings)
        let backups = try backupFlags.plan(settings, store: storeName(settings))
        let gateway = try settings.address("http", flag: http).map { ($0, Gateway()) }
        func run() async throws {
            try await serve(store, backups, in: frame, gateway?.1)
        }
        if let (address, gateway) = gateway {
            try await gateway.serving(at: address, limits, logger, run)
        } else {
            try await run()
        }
        logger.info("stopped")
    }

    private func noteStart(_ settings: Settings, _ logger: Logger) {
        var metadata: Logger.Metadata = ["version": "\(QueryService.version)"]
        if let path = settings.filePath {
            metadata["configuration"] = "\(URL(filePath: path).path)"
        }
        logger.info("starting", metadata: metadata)
    }

    /// Sets priorities, and checks what the system permits the process.
    private func prepareProcess(
        _ settings: Settings, _ limits: Limits, _ logger: Logger
    ) throws {
        Niceness.prefer(try preference(settings)) { reason in
            logger.warning(
                "threads cannot have their priorities: background work slows requests, and --prefer does nothing",
                metadata: ["reason": "\(reason)"])
        }
        OpenFiles.raiseLimit(for: limits, logger)
        try AddressSpace.check(
            threads: limits.connectionThreads + limits.readThreads + Self.otherThreads)
        AddressSpace.warnOfLimit(logger)
        HashSeed.warnIfKnown(logger)
    }

    /// Opens the store, serves it, and closes it.
    private func serve(
        _ store: ServedStore, _ backups: BackupPlan?, in frame: Frame, _ gateway: Gateway?
    ) async throws {
        let logger = frame.reloading.logger
        let backend = try await blocking("open") {
            try store.open(frame.limits, frame.clock, logger)
        }
        let scheduled = schedule(backups, of: backend, frame.clock, logger)
        frame.reloading.configuration.observe(scheduled)
        do {
            try await serve(backend, in: frame, gateway)
        } catch {
            await blocking("backups' end") { scheduled?.stop() }
            try? await blocking("close") { try backend.close() }
            throw error
        }
        await blocking("backups' end") { scheduled?.stop() }
        do {
            try await blocking("close") { try backend.close() }
        } catch {
            throw CommandFailure("the store did not close: \(error)")
        }
    }

    private func logger(_ settings: Settings) throws -> (Logger, LogThreshold) {
        let threshold = LogThreshold(try Self.level(settings, flag: logLevel))
        let formatName = settings.string("logFormat", flag: logFormat) ?? "text"
        guard let format = LineLogHandler.Format(rawValue: formatName) else {
            let source = settings.source(of: "logFormat", flag: logFormat)
            throw ValidationError("\(source): \"\(formatName)\" is neither text nor json")
        }
        LoggingSystem.bootstrap {
            LineLogHandler(label: $0, format: format, threshold: threshold)
        }
        return (Logger(label: "geobucket"), threshold)
    }

    private static func level(_ settings: Settings, flag: String?) throws -> Logger.Level {
        let name = settings.string("logLevel", flag: flag) ?? "info"
        guard let level = Logger.Level(rawValue: name) else {
            let source = settings.source(of: "logLevel", flag: flag)
            throw ValidationError(
                "\(source): \"\(name)\" is none of "
                    + Logger.Level.allCases.map(\.rawValue).joined(separator: ", "))
        }
        return level
    }

    /// What of the settings may change while the service runs.
    private var reader: Reconfiguration.Reader {
        Reconfiguration.Reader(
            given: Settings.given(
                [
                    self, backupFlags, webFlags, webFlags.basemapFlags, clusterFlags, accessFlags,
                    auditFlags, quotaFlags,
                ]),
            level: { [logLevel] in try Self.level($0, flag: logLevel) },
            limits: { [limitFlags] in try limitFlags.limits($0) },
            notesReads: { [auditFlags] in
                try $0.bool("auditReads", flag: auditFlags.auditReads)
            },
            quotas: { [quotaFlags] in try quotaFlags.rules($0) },
            backupTimes: { [backupFlags] in try backupFlags.times($0) })
    }

    /// The threads of the store, of HTTP and of libraries.
    private static let otherThreads = 9

    static let defaultStore = "./geobucket.sqlite"

    private func durability(_ settings: Settings) throws -> SQLiteStore.Durability {
        let name = settings.string("durability", flag: durability) ?? "full"
        guard let durability = SQLiteStore.Durability(rawValue: name), durability != .none else {
            let source = settings.source(of: "durability", flag: self.durability)
            throw ValidationError("\(source): \"\(name)\" is neither full nor normal")
        }
        return durability
    }

    private func preference(_ settings: Settings) throws -> Preference {
        let name = settings.string("prefer", flag: prefer) ?? Preference.balance.rawValue
        guard let preference = Preference(rawValue: name) else {
            let source = settings.source(of: "prefer", flag: prefer)
            throw ValidationError("\(source): \"\(name)\" is neither balance nor reads nor writes")
        }
        return preference
    }

    private func storeName(_ settings: Settings) -> String {
        settings.string("store", flag: store) ?? Self.defaultStore
    }

    private func store(_ settings: Settings) throws -> ServedStore {
        let store = storeName(settings)
        let durability = try durability(settings)
        if let cluster = try clusterFlags.configuration(of: store, settings) {
            return .cluster(cluster)
        }
        return .file(path: store, durability)
    }

    /// Nil if there is nothing to be done.
    private func schedule(
        _ plan: BackupPlan?, of backend: any ClosableBackend, _ clock: ServiceClock,
        _ logger: Logger
    ) -> ScheduledBackups? {
        let metrics = BackupMetrics()
        guard let plan, let backend = backend as? SQLiteBackend else { return nil }
        return ScheduledBackups(plan, of: backend, metrics, clock: clock, logger: logger)
    }

    /// Where and for whom a backend is served.
    private struct Frame {
        let address: Address
        let web: WebPort.Settings?
        let limits: Limits
        let drain: Duration
        let reloading: Reloading
        let stopping: Stopping
        let everybody: PublicBuckets?
        let proxies: TrustedProxies
        let neighbourhood: Neighbourhood?
        let clock: ServiceClock
    }

    private func serve(
        _ backend: any ClosableBackend, in frame: Frame, _ gateway: Gateway?
    ) async throws {
        let logger = frame.reloading.logger
        let service = QueryService(
            backend: backend, limits: frame.limits, access: frame.reloading.access?.control,
            everybody: frame.everybody,
            health: gateway?.health ?? Health(), clock: frame.clock,
            certificateEnd: { [tls = frame.reloading.tls] in tls?.certificateEnd },
            audit: frame.reloading.audit, logger: logger)
        gateway?.observe(service)
        frame.reloading.configuration.observe(service)
        try await Workers.with(frame.limits) { workers in
            let lines = lineServices(service, backend, in: frame, workers)
            guard let web = frame.web else {
                return try await run(lines, of: service, in: frame)
            }
            try await serving("web", at: web.address, logger) { listening in
                WebPort(
                    service: service, workers: workers, settings: web, tls: frame.reloading.tls,
                    nodes: frame.neighbourhood?.secret, proxies: frame.proxies, logger: logger
                ) { host, port in
                    Self.warn(Address(host: host, port: port), frame.reloading)
                    listening(host, port)
                }
            } _: {
                try await run(lines, of: service, in: frame)
            }
        }
    }

    private func lineServices(
        _ service: QueryService, _ backend: any ClosableBackend, in frame: Frame,
        _ workers: Workers
    ) -> ServiceGroup {
        let logger = frame.reloading.logger
        let server = LineServer(
            service: service, host: frame.address.host, port: frame.address.port,
            drainTime: frame.drain, tls: frame.reloading.tls, nodes: frame.neighbourhood?.secret,
            proxies: frame.proxies, workers: workers, logger: logger
        ) { host, port in
            let bound = Address(host: host, port: port)
            frame.web?.linePort.announce(port)
            Self.warn(bound, frame.reloading)
            if let (client, peer) = frame.neighbourhood?.addresses(listeningOn: bound) {
                Self.warnOfNodes(at: peer, frame.reloading)
                backend.announce(client: client, peer: peer)
            }
            try? Console.write("geobucket ready on \(bound)\n")
            ServiceManager.tell("READY=1")
        }
        return ServiceGroup(
            configuration: .init(
                services: [
                    .init(
                        service: server, successTerminationBehavior: .gracefullyShutdownGroup),
                    .init(service: frame.reloading),
                ], logger: logger))
    }

    private func run(
        _ lines: ServiceGroup, of service: QueryService, in frame: Frame
    ) async throws {
        frame.stopping.take(lines)
        do {
            try await lines.run()
        } catch {
            await blocking("watches' end") { service.watches.stop() }
            throw CommandFailure("cannot listen on \(frame.address): \(reason(of: error))")
        }
    }

    private static func warn(_ bound: Address, _ reloading: Reloading) {
        guard !bound.isLoopback else { return }
        if reloading.access == nil {
            reloading.logger.warning(
                "anyone who reaches this address can read and write everything",
                metadata: ["address": "\(bound)"])
        } else if reloading.tls == nil {
            reloading.logger.warning(
                "tokens and documents cross the network in the clear; give --tls-certificate",
                metadata: ["address": "\(bound)"])
        }
    }

    /// - Parameter peer: where other nodes reach this one.
    private static func warnOfNodes(at peer: String, _ reloading: Reloading) {
        guard reloading.tls == nil, Address(argument: peer)?.isLoopback != true else { return }
        reloading.logger.warning(
            "nodes speak without TLS: their token does not protect from who can alter packets",
            metadata: ["address": "\(peer)"])
    }
}

extension WebPort.Settings {
    fileprivate var address: Address { Address(host: host, port: port) }
}
