import ArgumentParser
import EmbeddedBackend
import Glibc
import Objects
import PostgresBackend

/// `geobucket migrate`: copies a store from a file into PostgreSQL, or back.
struct Migrate: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Copy a whole store from a file into PostgreSQL, or from PostgreSQL into a file.",
        discussion: """
            Clients notice no difference: objects keep their numbers, versions and times, page keys \
            and request keys stay valid. The target must be empty, or not exist. It is filled as a \
            whole, after a comparison of both, or not at all. No service may run on the file. Nodes \
            may run on the tables; what they write after the beginning is not copied.
            """)

    @Option(help: ArgumentHelp("The store to copy.", valueName: "path-or-url"))
    var from: String

    @Option(help: ArgumentHelp("The store to fill.", valueName: "path-or-url"))
    var to: String

    @Option(
        help: ArgumentHelp(
            "The schema of the tables in PostgreSQL. (default: geobucket)", valueName: "name"))
    var postgresSchema: String?

    func run() throws {
        try AddressSpace.check()
        let migration: Migration
        switch (PostgresAddress.isAddress(from), PostgresAddress.isAddress(to)) {
        case (false, true):
            let address = try ClusterFlags.address(to, schema: postgresSchema)
            migration = try Self.showing { progress throws(StoreFailure) in
                try Migration.run(from: from, to: address, progress: progress)
            }
        case (true, false):
            let address = try ClusterFlags.address(from, schema: postgresSchema)
            migration = try copy(from: address)
        default:
            throw ValidationError(
                "one of --from and --to has to be a file, the other postgresql://…")
        }
        try Console.write(
            "\(counted(migration.objects, "object")) in \(counted(migration.buckets, "bucket")), "
                + "\(counted(migration.tombstones, "deletion")) and "
                + "\(counted(migration.requests, "request key")): copied and compared\n")
    }

    /// The file gets its name when it is complete.
    private func copy(from address: PostgresAddress) throws -> Migration {
        guard access(to, F_OK) != 0 else {
            throw CommandFailure("\(to) is there already; nothing was changed")
        }
        let partial = "\(to).partial-\(getpid())"
        let files = ["", "-wal", "-shm"].map { partial + $0 }
        Unfinished.removeAtSignals(files)
        defer { for file in files { unlink(file) } }
        let migration = try Self.showing { progress throws(StoreFailure) in
            try Migration.run(from: address, to: partial, progress: progress)
        }
        try Files.publish(partial, as: to)
        return migration
    }

    private static func showing(
        _ run: ((Int) -> Void) throws(StoreFailure) -> Migration
    ) throws -> Migration {
        let progress = CopyProgress()
        defer { progress.clear() }
        do {
            return try run { progress.show($0) }
        } catch {
            throw CommandFailure("the store cannot be copied: \(error)")
        }
    }
}
