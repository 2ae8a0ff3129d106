import ArgumentParser
import EmbeddedBackend
import Glibc
import Logging
import NIOCore
import ObjectStore
import Objects
import Operations
import QueryServer
import ServiceLifecycle
import UnixSignals

/// `geobucket serve`: runs the service until SIGTERM or SIGINT.
struct Serve: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Run the service.",
        discussion: """
            When it can answer it prints `geobucket ready on HOST:PORT` on standard output. SIGTERM \
            or SIGINT: it takes no more connections, answers what it has read, and exits with 0.

            Every flag can also come from the environment (--line-bytes is GEOBUCKET_LINE_BYTES) or \
            from a JSON file given with --config (\"lineBytes\": 65536), in that order.
            """)

    @Option(
        help: ArgumentHelp(
            "Address to listen on; port 0 takes a free one. (default: \(Address.standard))",
            valueName: "host:port"))
    var listen: String?

    @Option(
        help: ArgumentHelp(
            "The store's file, made when it is missing. (default: ./geobucket.sqlite)",
            valueName: "path"))
    var store: String?

    @Option(help: ArgumentHelp("A JSON file of settings.", valueName: "path"))
    var config: String?

    @Option(
        help: "trace, debug, info, notice, warning, error or critical. (default: info)")
    var logLevel: String?

    @Option(help: "Seconds a stop waits for answers under way. (default: 8)")
    var drainSeconds: Int?

    @OptionGroup(title: "Limits") var limitFlags: LimitFlags

    func run() async throws {
        let settings = try await Settings(file: config)
        let address = try address(settings)
        let limits = try limitFlags.limits(settings)
        let logger = try logger(settings)
        let drain = try settings.int("drainSeconds", flag: drainSeconds) ?? 8
        guard (0...86_400).contains(drain) else {
            throw ValidationError("--drain-seconds has to be 0 to 86400")
        }
        let path = settings.string("store", flag: store) ?? "./geobucket.sqlite"
        try Self.refuseURL(path)
        let backend = try open(path, limits, logger)
        do {
            try await serve(backend, address, limits, .seconds(drain), logger)
        } catch {
            try? backend.close()
            throw error
        }
        do {
            try backend.close()
        } catch {
            throw CommandFailure("the store did not close: \(error)")
        }
        logger.info("stopped")
    }

    private func address(_ settings: Settings) throws -> Address {
        guard let text = settings.string("listen", flag: listen) else { return .standard }
        guard let address = Address(argument: text) else {
            throw ValidationError("--listen: \"\(text)\" is no HOST:PORT")
        }
        return address
    }

    private func logger(_ settings: Settings) throws -> Logger {
        let name = settings.string("logLevel", flag: logLevel) ?? "info"
        guard let level = Logger.Level(rawValue: name) else {
            throw ValidationError(
                "--log-level: \"\(name)\" is none of "
                    + Logger.Level.allCases.map(\.rawValue).joined(separator: ", "))
        }
        LoggingSystem.bootstrap(StreamLogHandler.standardError)
        var logger = Logger(label: "geobucket")
        logger.logLevel = level
        return logger
    }

    private static func refuseURL(_ path: String) throws {
        if path.contains("://") {
            throw ValidationError("--store: \"\(path)\" is no file; other stores come later")
        }
    }

    private func open(_ path: String, _ limits: Limits, _ logger: Logger) throws -> EmbeddedBackend
    {
        let start = ContinuousClock.now
        do {
            let backend = try EmbeddedBackend(path: path, limits: limits, logger: logger)
            let statistics = backend.statistics()
            logger.info(
                "store open",
                metadata: [
                    "store": "\(path)", "buckets": "\(statistics.buckets)",
                    "objects": "\(statistics.objects)", "points": "\(statistics.points)",
                    "seconds": "\((ContinuousClock.now - start) / .seconds(1))",
                ])
            return backend
        } catch {
            throw CommandFailure("the store cannot be opened: \(error)")
        }
    }

    private func serve(
        _ backend: EmbeddedBackend, _ address: Address, _ limits: Limits, _ drain: Duration,
        _ logger: Logger
    ) async throws {
        let service = Operations.Service(
            backend: backend, limits: limits, methodNames: LineServer.methodNames)
        let server = LineServer(
            service: service, host: address.host, port: address.port, drainTime: drain,
            logger: logger
        ) { host, port in
            let bound = Address(host: host, port: port)
            if !bound.isLoopback {
                logger.warning(
                    "anyone who reaches this address can read and write everything",
                    metadata: ["address": "\(bound)"])
            }
            try? Console.write("geobucket ready on \(bound)\n")
        }
        let group = ServiceGroup(
            configuration: .init(
                services: [
                    .init(
                        service: server, successTerminationBehavior: .gracefullyShutdownGroup)
                ],
                gracefulShutdownSignals: [.sigterm, .sigint], logger: logger))
        do {
            try await group.run()
        } catch let error as IOError {
            throw CommandFailure(
                "cannot listen on \(address): \(String(cString: strerror(error.errnoCode)))")
        } catch {
            throw CommandFailure("cannot listen on \(address): \(error)")
        }
    }
}
