import BackendContract
import EmbeddedBackend
import Foundation
import Glibc
import Logging
import Objects
import PostgresBackend
import Runtime

/// The store that `serve` runs on.
enum ServedStore {
    case file(path: String, SQLiteStore.Durability)
    case cluster(PostgresBackend.Configuration)

    /// Opens the store, and logs what it holds.
    func open(
        _ limits: Limits, _ clock: ServiceClock, _ logger: Logger
    ) throws -> any ClosableBackend {
        let start = clock.now
        do {
            let backend = try opened(limits, clock, logger)
            warnOfReaders(logger)
            let statistics = backend.statistics()
            logger.info(
                "store open",
                metadata: [
                    "store": "\(name)",
                    "buckets": .stringConvertible(statistics.buckets),
                    "objects": .stringConvertible(statistics.objects),
                    "points": .stringConvertible(statistics.points),
                    "seconds": .stringConvertible(start.duration(to: clock.now) / .seconds(1)),
                ])
            return backend
        } catch {
            throw CommandFailure("the store cannot be opened: \(error)")
        }
    }

    /// The file's whole path, or the database without its password.
    private var name: String {
        switch self {
        case .file(let path, _): URL(filePath: path).path
        case .cluster(let configuration): configuration.address.summary
        }
    }

    /// New files are their owner's alone; those that are there keep their mode.
    private func warnOfReaders(_ logger: Logger) {
        let path =
            switch self {
            case .file(let path, _): path
            case .cluster(let configuration): configuration.cache
            }
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & S_IROTH != 0 else { return }
        logger.warning(
            "every user of this machine may read the store; take that away with chmod o-rwx",
            metadata: ["file": "\(path)"])
    }

    private func opened(
        _ limits: Limits, _ clock: ServiceClock, _ logger: Logger
    ) throws(StoreFailure) -> any ClosableBackend {
        switch self {
        case .file(let path, let durability):
            return try SQLiteBackend(
                path: path, durability: durability, limits: limits, logger: logger, clock: clock)
        case .cluster(let configuration):
            logger.info(
                "connecting to PostgreSQL",
                metadata: ["database": "\(configuration.address.summary)"])
            let progress = CopyProgress()
            defer { progress.clear() }
            return try PostgresBackend(
                configuration, limits: limits, logger: logger, clock: clock,
                progress: { progress.show($0) })
        }
    }
}

/// A backend that ends with its process.
protocol ClosableBackend: Backend {
    func close() throws(StoreFailure)

    /// Tells clients and other nodes where this one is, if it holds a part of the buckets.
    func announce(client: String, peer: String)
}

extension SQLiteBackend: ClosableBackend {
    func announce(client: String, peer: String) {}
}

extension PostgresBackend: ClosableBackend {}
