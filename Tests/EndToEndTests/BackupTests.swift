import Foundation
import GRDB
import GeoBucketClient
import JSONText
import Synchronization
import TestSupport
import Testing

/// `geobucket backup` and `geobucket check`, on a file and on a running service.
@Suite(.timeLimit(.minutes(20))) struct BackupTests {
    enum Source: CaseIterable { case file, service }

    /// How far a writer is that writes all the time.
    private final class Progress: Sendable {
        let answered = Atomic(0)
        let isDone = Atomic(false)

        var count: Int { answered.load(ordering: .relaxed) }
    }

    private static func put(_ number: Int, _ connection: LineConnection) async throws {
        let pad = String(repeating: "x", count: number * 37 % 5_000)
        let object = #"{"n":\#(number),"pad":"\#(pad)","at":\#(point(1, Double(number % 180)))}"#
        _ = try await connection.call(
            "object.put", Array(#"{"bucket":"b1","id":"o\#(number)","object":\#(object)}"#.utf8))
    }

    private static func count(_ port: Int) async throws -> Int {
        try await LineConnection.with(host: "127.0.0.1", port: port) { connection in
            let answer = try await connection.call("bucket.count", Array(#"{"bucket":"b1"}"#.utf8))
            return try JSONValue(parsing: answer)["count"]!.int!
        }
    }

    @Test(arguments: Source.allCases)
    func `A backup made while writes go on is one state, and a service starts on it`(
        source: Source
    ) async throws {
        try await withTemporaryFolder { folder in
            let (store, copy) = (folder + "/store.sqlite", folder + "/copy.sqlite")
            try await Program.serve(store: store, folder: folder) { _, port in
                let writer = Progress()
                try await withThrowingTaskGroup(of: Void.self) { group in
                    group.addTask {
                        try await LineConnection.with(host: "127.0.0.1", port: port) { line in
                            while !writer.isDone.load(ordering: .relaxed) {
                                try await Self.put(writer.count, line)
                                writer.answered.add(1, ordering: .relaxed)
                            }
                        }
                    }
                    while writer.count < 300 {
                        try await Task.sleep(for: .milliseconds(5))
                    }
                    let before = writer.count
                    let run = try await Program.run(
                        ["backup", copy]
                            + (source == .file
                                ? ["--store", store] : ["--server", "127.0.0.1:\(port)"]),
                        folder: folder)
                    let after = writer.count
                    writer.isDone.store(true, ordering: .relaxed)
                    try await group.waitForAll()
                    #expect(run.status == 0, "\(run.errors)")
                    #expect(run.output.contains("verified"), "\(run.output)")
                    try await Program.serve(store: copy, folder: folder) { _, copyPort in
                        let count = try await Self.count(copyPort)
                        #expect((before...after + 1).contains(count), "\(before), \(after)")
                        try await LineConnection.with(host: "127.0.0.1", port: copyPort) { line in
                            // One state of a bucket written in order is its first objects.
                            _ = try await line.call(
                                "object.get",
                                Array(#"{"bucket":"b1","id":"o\#(count - 1)"}"#.utf8))
                            try await Self.put(count, line)
                        }
                    }
                }
            }
            #expect(
                !FileManager.default.fileExists(atPath: store + "-backup"), "a file was left over")
        }
    }

    @Test func `A backup never overwrites`() async throws {
        try await withTemporaryFolder { folder in
            let (store, copy) = (folder + "/store.sqlite", folder + "/copy.sqlite")
            try Data("mine".utf8).write(to: URL(fileURLWithPath: copy))
            try await Program.serve(store: store, folder: folder) { _, port in
                for source in [["--store", store], ["--server", "127.0.0.1:\(port)"]] {
                    let run = try await Program.run(["backup", copy] + source, folder: folder)
                    #expect(run.status == 1 && run.errors.contains("there already"))
                }
            }
            #expect(FileManager.default.contents(atPath: copy) == Data("mine".utf8))
            let usage = try await Program.run(
                ["backup", copy + "2", "--store", store, "--server", "127.0.0.1:1"], folder: folder)
            #expect(usage.status == 2)
            let missing = try await Program.run(
                ["backup", copy + "2", "--store", store + "2"], folder: folder)
            #expect(missing.status == 1 && missing.errors.contains("does not exist"))
            let left = try FileManager.default.contentsOfDirectory(atPath: folder)
            #expect(!left.contains { $0.contains("partial") || $0.contains("copy.sqlite2") })
        }
    }

    @Test(arguments: [SIGINT, SIGTERM, SIGHUP])
    func `A backup that a signal ends leaves nothing behind`(signal: Int32) async throws {
        try await withTemporaryFolder { folder in
            let copy = folder + "/copy.sqlite"
            func copies() throws -> [String] {
                try FileManager.default.contentsOfDirectory(atPath: folder)
                    .filter { $0.hasPrefix("copy.sqlite") }
            }
            try await Program.serve(store: folder + "/store.sqlite", folder: folder) {
                service, port in
                // It takes the connection and never answers.
                service.signal(SIGSTOP)
                // Whoever runs the tests may ignore signals, and so would the backup.
                let backup = try ChildProcess.start(
                    "/usr/bin/env",
                    [
                        "--default-signal", Program.path, "backup", copy, "--server",
                        "127.0.0.1:\(port)",
                    ], folder: folder)
                while try copies().isEmpty { try await Task.sleep(for: .milliseconds(5)) }
                backup.signal(signal)
                #expect(await backup.end() == 128 + signal)
                #expect(try copies() == [])
            }
        }
    }

    @Test func `A damaged store is not kept as a backup`() async throws {
        try await withTemporaryFolder { folder in
            let (store, copy) = (folder + "/store.sqlite", folder + "/copy.sqlite")
            try await Program.serve(store: store, folder: folder) { process, port in
                try await LineConnection.with(host: "127.0.0.1", port: port) {
                    try await Self.put(1, $0)
                }
                process.signal(SIGTERM)
                #expect(await process.end() == 0)
            }
            try Self.tamper(store, "UPDATE object SET document = replace(document, '1', '2')")
            let run = try await Program.run(["backup", copy, "--store", store], folder: folder)
            #expect(run.status == 1 && run.errors.contains("points column"), "\(run.errors)")
            #expect(!FileManager.default.fileExists(atPath: copy))
        }
    }

    private static func tamper(_ store: String, _ sql: String) throws {
        let queue = try DatabaseQueue(path: store)
        try queue.writeWithoutTransaction { try $0.execute(sql: sql) }
        try queue.close()
    }

    @Test func `A running service tells what it has otherwise than its store`() async throws {
        try await withTemporaryFolder { folder in
            let store = folder + "/store.sqlite"
            try await Program.serve(store: store, folder: folder) { _, port in
                let server = "127.0.0.1:\(port)"
                try await LineConnection.with(host: "127.0.0.1", port: port) { line in
                    for number in 0..<200 { try await Self.put(number, line) }
                    let expiring = #"{"bucket":"b1","id":"o7","object":{},"expiresAt":9e15}"#
                    _ = try await line.call("object.patch", Array(expiring.utf8))
                    // Has a column of "n" made.
                    let query = queryParams(#"{"type":"eq","field":"n","value":3}"#, "", "", "b1")
                    while true {
                        let explained = try JSONValue(
                            parsing: try await line.call("bucket.explain", Array(query.utf8)))
                        if explained["estimatedDocuments"]?.int ?? 200 < 200 { break }
                        _ = try await line.call("bucket.query", Array(query.utf8))
                    }
                }
                func check() async throws -> (status: Int32, output: String, errors: String) {
                    try await Program.run(["check", "--server", server], folder: folder)
                }
                let clean = try await check()
                #expect(clean.status == 0, "\(clean.output) \(clean.errors)")
                #expect(clean.output == "200 objects with 200 points in 1 bucket: no problems\n")
                for (sql, sentence) in [
                    ("UPDATE expiry SET time = time - 1", "expires at another time"),
                    (
                        "UPDATE object SET document = replace(document, '\"n\":9,', '\"n\":8,')",
                        "the column of n"
                    ),
                    (
                        "UPDATE object SET points = (SELECT points FROM object WHERE id = 'o2') "
                            + "WHERE id = 'o3'", "other points"
                    ),
                    ("DELETE FROM object WHERE id = 'o11'", "199 objects stored"),
                ] {
                    try Self.tamper(store, sql)
                    let run = try await check()
                    #expect(run.status == 1, "\(sql)")
                    #expect(run.output.contains(sentence), "\(sql): \(run.output)")
                }
            }
        }
    }

    /// Runs the program as somebody who may read a folder and not write there; as oneself unless one
    /// may do everything.
    private static func runAsReader(_ arguments: [String], _ folder: String) async throws -> (
        status: Int32?, text: String
    ) {
        let isRoot = getuid() == 0
        let words = [Program.path] + arguments
        let process = try ChildProcess.start(
            isRoot ? "/usr/bin/setpriv" : words[0],
            isRoot
                ? ["--reuid", "65534", "--regid", "65534", "--clear-groups"] + words
                : Array(words.dropFirst()), folder: folder)
        let status = await process.end()
        return (status, process.standardOutput + process.standardError)
    }

    @Test func `Who may only read a store can check it and copy it`() async throws {
        try await withTemporaryFolder { folder in
            // A name that means something in a URI.
            let place = folder + "/a %3f#b"
            try FileManager.default.createDirectory(
                atPath: place, withIntermediateDirectories: false)
            let store = place + "/store.sqlite"
            let copies = folder + "/copies"
            try FileManager.default.createDirectory(
                atPath: copies, withIntermediateDirectories: false)
            for (path, mode) in [(folder, 0o755), (copies, 0o777)] {
                #expect(chmod(path, mode_t(mode)) == 0)
            }
            try await Program.serve(store: store, folder: folder) { process, port in
                try await LineConnection.with(host: "127.0.0.1", port: port) { line in
                    for number in 0..<50 { try await Self.put(number, line) }
                }
                // Its owner lets others read it.
                for name in try FileManager.default.contentsOfDirectory(atPath: place) {
                    #expect(chmod("\(place)/\(name)", 0o644) == 0)
                }
                #expect(chmod(place, 0o555) == 0)
                let served = try await Self.runAsReader(["check", "--store", store], folder)
                #expect(served.status == 0 && served.text.contains("50 objects"), "\(served)")
                #expect(chmod(place, 0o755) == 0)
                process.signal(SIGTERM)
                #expect(await process.end() == 0)
            }
            #expect(chmod(place, 0o555) == 0)
            defer { chmod(place, 0o755) }
            let check = try await Self.runAsReader(["check", "--store", store], folder)
            #expect(check.status == 0 && check.text.contains("50 objects"), "\(check)")
            let copy = copies + "/copy.sqlite"
            let backup = try await Self.runAsReader(["backup", "--store", store, copy], folder)
            #expect(backup.status == 0 && backup.text.contains("50 objects"), "\(backup)")
            #expect(
                try FileManager.default.contentsOfDirectory(atPath: place) == ["store.sqlite"],
                "files were left beside the store")
            let verified = try await Program.run(["check", "--store", copy], folder: folder)
            #expect(verified.status == 0 && verified.output.contains("50 objects"))
        }
    }

    @Test(arguments: ["check", "backup", "serve"])
    func `What is no file is no store`(_ command: String) async throws {
        try await withTemporaryFolder { folder in
            let pipe = folder + "/pipe"
            #expect(mkfifo(pipe, 0o600) == 0)
            for (path, what) in [(folder, "is a folder"), (pipe, "is no regular file")] {
                var arguments = [command, "--store", path]
                if command == "backup" { arguments.append(folder + "/copy.sqlite") }
                if command == "serve" { arguments += ["--listen", "127.0.0.1:0"] }
                let run = try await Program.run(arguments, folder: folder)
                #expect(run.status == 1 && run.errors.contains("\(path) \(what)"), "\(run.errors)")
            }
        }
    }

    @Test(arguments: Source.allCases)
    func `The last line names the source and the copy, and the help where each is`(
        source: Source
    ) async throws {
        try await withTemporaryFolder { folder in
            let (store, copy) = (folder + "/store.sqlite", folder + "/copy.sqlite")
            try await Program.serve(store: store, folder: folder) { _, port in
                try await LineConnection.with(host: "127.0.0.1", port: port) {
                    try await Self.put(1, $0)
                }
                let address = "127.0.0.1:\(port)"
                let flags = source == .file ? ["--store", store] : ["--server", address]
                let run = try await Program.run(["backup", copy] + flags, folder: folder)
                let from = source == .file ? store : address
                #expect(
                    run.output
                        == "1 object with 1 point in 1 bucket: copied from \(from) to \(copy) and verified\n"
                )
                for command in ["backup", "check"] {
                    let help = try await Program.run([command, "--help"], folder: folder).output
                    #expect(!help.contains("GEOBUCKET_SERVER"), "\(help)")
                    #expect(help.contains("./geobucket.sqlite)"), "\(help)")
                }
            }
        }
    }
}
