import Foundation
import Objects
import Runtime
import TestSupport
import Testing

@testable import ServiceDesk

/// The file of the audit log: whole lines in order, bounded, and never waited for.
@Suite struct AuditLogTests {
    private static func entry(_ number: Int) -> AuditEntry {
        AuditEntry(
            time: 1_772_366_400_123, principal: "alice", address: "10.0.0.1", method: .putMany,
            bucket: BucketName(trusted: "shops"), objects: number, errorCode: nil)
    }

    private static func log(
        _ path: String, _ change: (inout Limits) -> Void = { _ in }, lines: LogLines = LogLines(),
        thread: WorkThread = WorkThread("audit")
    ) throws -> AuditLog {
        var limits = Limits()
        change(&limits)
        return try AuditLog(
            path: path, notesReads: false, limits, clock: ServiceClock(), logger: lines.logger,
            thread: thread)
    }

    private static func lines(_ path: String) throws -> [String] {
        try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n").map(String.init)
    }

    private static func numbers(_ path: String) throws -> [Int] {
        try lines(path).map { line in
            Int(try #require(line.firstMatch(of: /"objects":(\d+)/)).1)!
        }
    }

    @Test func `A line is a JSON object that tells when, who, from where, what and how it ended`()
        throws
    {
        #expect(
            String(decoding: Self.entry(20).line, as: UTF8.self)
                == #"{"time":"2026-03-01T12:00:00.123Z","principal":"alice","address":"10.0.0.1","#
                + #""method":"object.putMany","bucket":"shops","objects":20,"outcome":"done"}"#
                + "\n")
        var failed = AuditEntry(
            time: 0, principal: nil, address: "a\"\n", method: .login, bucket: nil, objects: nil,
            errorCode: "WRONG_TOKEN")
        failed.token = "3f9a2c11d04e"
        #expect(
            String(decoding: failed.line, as: UTF8.self)
                == #"{"time":"1970-01-01T00:00:00.000Z","address":"a\"\n","method":"auth.login","#
                + #""token":"3f9a2c11d04e","outcome":"WRONG_TOKEN"}"# + "\n")
    }

    @Test func `Lines go on behind those that are there, and the file is its owner's`() async throws
    {
        try await withTemporaryFolder { folder in
            let path = folder + "/audit.log"
            for begin in [0, 100] {
                let log = try Self.log(path)
                for number in begin..<begin + 100 { log.note(Self.entry(number)) }
                log.end()
                log.note(Self.entry(-1))
                #expect(log.lostLines == 1)
            }
            #expect(try Self.numbers(path) == Array(0..<200))
            let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions]
            #expect(mode as? Int == 0o600)
        }
    }

    @Test(arguments: [0, 1, 3])
    func `At auditBytes another file is begun, and auditFiles older ones are kept`(_ kept: Int)
        async throws
    {
        try await withTemporaryFolder { folder in
            let path = folder + "/audit.log"
            let log = try Self.log(path) { ($0.auditBytes, $0.auditFiles) = (4_096, kept) }
            for number in 0..<1_000 { log.note(Self.entry(number)) }
            log.end()
            let files = try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
            #expect(files == ["audit.log"] + (1..<kept + 1).map { "audit.log.\($0)" })
            var all: [Int] = []
            for file in files.reversed() {
                let size = try Data(contentsOf: URL(filePath: folder + "/" + file)).count
                #expect(size <= 4_096 && (file == "audit.log" || size > 3_900), "\(file): \(size)")
                all += try Self.numbers(folder + "/" + file)
            }
            #expect(all == Array(1_000 - all.count..<1_000))
            #expect(log.lostLines == 0)
        }
    }

    @Test func `A file that was renamed is opened anew on demand`() async throws {
        try await withTemporaryFolder { folder in
            let path = folder + "/audit.log"
            let log = try Self.log(path)
            log.note(Self.entry(1))
            log.reopen()
            log.note(Self.entry(2))
            log.end()
            #expect(try Self.numbers(path) == [1, 2])
            let thread = WorkThread("audit")
            let other = try Self.log(path, thread: thread)
            try FileManager.default.moveItem(atPath: path, toPath: path + ".old")
            other.note(Self.entry(3))
            other.reopen()
            thread.drain()
            other.note(Self.entry(4))
            other.end()
            #expect(try Self.numbers(path + ".old").prefix(2) == [1, 2])
            #expect(try Self.numbers(path + ".old") + Self.numbers(path) == [1, 2, 3, 4])
            #expect(try Self.numbers(path).last == 4)
        }
    }

    @Test func `Nobody waits for the file: what would wait too long is lost, and counted`()
        async throws
    {
        try await withTemporaryFolder { folder in
            let (thread, gate) = (WorkThread("audit"), DispatchSemaphore(value: 0))
            thread.async { gate.wait() }
            let log = try Self.log(folder + "/audit.log", thread: thread)
            for number in 0..<AuditLog.waitingLines + 5 { log.note(Self.entry(number)) }
            #expect(log.lostLines == 5)
            gate.signal()
            log.end()
            let numbers = try Self.numbers(folder + "/audit.log")
            #expect(numbers == Array(0..<AuditLog.waitingLines))
        }
    }

    @Test func `Lines that cannot be written are counted and logged once, and then it goes on`()
        async throws
    {
        try await withTemporaryFolder { folder in
            let (path, lines, thread) = (folder + "/audit.log", LogLines(), WorkThread("audit"))
            let log = try Self.log(
                path, { ($0.auditBytes, $0.auditFiles) = (4_096, 1) }, lines: lines, thread: thread)
            // A folder stands in the way of the older file.
            let older = path + ".1"
            try FileManager.default.createDirectory(
                atPath: older + "/x", withIntermediateDirectories: true)
            for number in 0..<100 { log.note(Self.entry(number)) }
            thread.drain()
            #expect(log.lostLines > 0)
            try FileManager.default.removeItem(atPath: older)
            for number in 100..<110 { log.note(Self.entry(number)) }
            log.end()
            let complaints = lines.all.filter { $0.contains("lines of the audit log are lost") }
            #expect(complaints.count == 1)
            let written = try Self.numbers(older) + Self.numbers(path)
            #expect(written.count + log.lostLines == 110)
            #expect(written == written.sorted() && written.suffix(10) == Array(100..<110)[...])
        }
    }

    @Test func `What is no regular file is refused at the start`() async throws {
        try await withTemporaryFolder { folder in
            for path in [folder, "/dev/null", folder + "/none/audit.log"] {
                #expect(throws: AuditLog.Fault.self, "\(path)") { try Self.log(path) }
            }
        }
    }
}
