import ArgumentParser
import BackendContract
import EmbeddedBackend
import Glibc
import PostgresBackend

/// `geobucket restore`: makes a store out of a backup.
struct Restore: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Make a store out of a backup, and verify it.",
        discussion: """
            SOURCE is a file of `geobucket backup`, of `serve --backup-to`, or of Litestream; it stays \
            as it is. It may be of an earlier schema. STORE gets its name when it is complete, on disk \
            and verified. Clients that watch get everything anew if they had seen what the backup does \
            not have; objects, page keys and request keys stay. A store in PostgreSQL is filled by \
            `geobucket migrate`.
            """)

    @Argument(help: "The backup.")
    var source: String

    @Argument(help: "The store's file.")
    var store: String

    @Flag(
        help:
            "Put it in the place of the store that is there, which is kept as STORE.replaced-TIME.")
    var force = false

    func validate() throws {
        guard !PostgresAddress.isAddress(store) else {
            throw ValidationError(
                "a store in PostgreSQL is filled by `geobucket migrate --from SOURCE --to STORE`")
        }
    }

    func run() throws {
        try AddressSpace.check()
        let isThere = ["", "-wal"].contains { access(store + $0, F_OK) == 0 }
        guard force || !isThere else {
            throw CommandFailure(
                "\(store), or the log of a store of this name, is there already; nothing was changed. "
                    + "--force keeps it under another name")
        }
        let partial = "\(store).partial-\(getpid())"
        let files = ["", "-journal", "-wal", "-shm"].map { partial + $0 }
        Unfinished.removeAtSignals(files)
        defer { for file in files { unlink(file) } }
        let report = try copy(to: partial)
        try report.demandNoProblems()
        let old = "\(store).replaced-\(BackupTime.now.text)"
        do {
            try StoreReplacement.run(partial, at: store, keeping: old)
        } catch {
            throw CommandFailure("\(store) stays as it is: \(error)")
        }
        if isThere { Console.error("the store that was there is now \(old)") }
        try Console.write("\(report.contents): restored to \(store) and verified\n")
    }

    private func copy(to path: String) throws -> CheckReport {
        var progress = ProgressLine()
        defer { progress.clear() }
        do {
            return try RestoredStore.make(from: source, at: path) { share in
                progress.show("copied \(Int(share * 100)) %")
            }
        } catch {
            throw CommandFailure("the backup cannot be restored: \(error)")
        }
    }
}
