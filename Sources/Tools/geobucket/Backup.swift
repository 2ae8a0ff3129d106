import ArgumentParser
import BackendContract
import EmbeddedBackend
import GeoBucketClient
import Glibc
import JSONText

/// `geobucket backup`: copies a store and verifies the copy, while writes go on.
struct Backup: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Copy a store, as it is at the beginning, into a new file, and verify the copy.",
        discussion: """
            The copy contains every write that was answered before the beginning, whatever is written \
            meanwhile. With --store, or without either flag, it copies a file, which a service may be \
            serving. With --server a running service sends its store, from this machine or another. \
            DESTINATION must not exist. It is created when the copy is complete, on disk and verified. \
            `geobucket restore` makes a store of it again.
            """)

    @Argument(help: "The file to create.")
    var destination: String

    @OptionGroup var source: StoreOption

    func run() async throws {
        try AddressSpace.check()
        guard access(destination, F_OK) != 0 else {
            throw CommandFailure("\(destination) is there already; nothing was changed")
        }
        let partial = "\(destination).partial-\(getpid())"
        let files = ["", "-journal", "-wal", "-shm"].map { partial + $0 }
        Unfinished.removeAtSignals(files)
        defer { for file in files { unlink(file) } }
        if let server = source.server {
            try await fetch(from: server, to: partial)
        } else {
            try copy(to: partial)
        }
        let report: CheckReport
        do {
            report = try StoreCheck.run(path: partial)
        } catch {
            throw CommandFailure("the copy cannot be read back: \(error)")
        }
        try report.demandNoProblems()
        try Files.publish(partial, as: destination)
        try Console.write(
            "\(report.contents): copied from \(source.name) to \(destination) and verified\n")
    }

    private func copy(to path: String) throws {
        var progress = ProgressLine()
        defer { progress.clear() }
        do {
            try FrozenStore(path: source.path).copy(to: path) { share in
                progress.show("copied \(Int(share * 100)) %")
            }
        } catch {
            throw CommandFailure("the store cannot be copied: \(error)")
        }
    }

    private func fetch(from server: ServerAddress, to path: String) async throws {
        let file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw Self.failure(path) }
        defer { close(file) }
        try await source.connect(to: server) { connection in
            var progress = ProgressLine()
            defer { progress.clear() }
            var (size, more, isFirst) = (0, true, true)
            while more {
                let answer = try await connection.call(
                    "store.backup", Array(isFirst ? "{}".utf8 : #"{"continue":true}"#.utf8))
                isFirst = false
                let piece = try JSONParser.reading(answer) { view -> [UInt8] in
                    more = view["more"]?.bool ?? false
                    guard let data = view["data"]?.string.flatMap(Base64URL.decode) else {
                        throw CommandFailure("the service sent no backup")
                    }
                    return data
                }
                guard write(file, piece, piece.count) == piece.count else {
                    throw Self.failure(path)
                }
                size += piece.count
                progress.show("received \(size / 1_048_576) MiB")
            }
        }
        guard fsync(file) == 0 else { throw Self.failure(path) }
    }

    private static func failure(_ path: String) -> CommandFailure {
        CommandFailure("\(path) cannot be written: \(String(cString: strerror(errno)))")
    }
}

extension CheckReport {
    /// Prints what is wrong with a copied store, and throws if something is.
    func demandNoProblems() throws {
        guard !problems.isEmpty else { return }
        for problem in problems { Console.error(problem) }
        throw CommandFailure("the copy is not whole; nothing was kept")
    }
}
