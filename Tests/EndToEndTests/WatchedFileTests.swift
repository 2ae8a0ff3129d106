import Foundation
import Logging
import Runtime
import ServiceDesk
import Synchronization
import TestSupport
import Testing

@testable import geobucket

/// A file that a running service goes by: when it is read, and what is taken up.
@Suite(.timeLimit(.minutes(5))) struct WatchedFileTests {
    /// What was taken up, and what the log said.
    private final class Outcome: Sendable {
        let taken = Mutex<[String]>([])
        let lines = Mutex<[String]>([])

        var logger: Logger {
            Logger(label: "test") { _ in Handler(outcome: self) }
        }

        @Sendable func take(_ bytes: [UInt8]) throws -> Int? {
            let text = String(decoding: bytes, as: UTF8.self)
            if text == "bad" { throw TestFailure("it makes no sense") }
            return taken.withLock { taken in
                defer { taken.append(text) }
                return taken.last == text ? nil : text.count
            }
        }
    }

    private struct Handler: LogHandler {
        let outcome: Outcome
        var logLevel = Logger.Level.trace
        var metadata: Logger.Metadata = [:]

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            let reason = event.metadata?["reason"].map { ": \($0)" } ?? ""
            outcome.lines.withLock { $0.append("\(event.message)\(reason)") }
        }
    }

    private static func with(
        _ body: (_ path: String, WatchedFile, Outcome) async throws -> Void
    ) async throws {
        try await withTemporaryFolder { folder in
            let (path, outcome) = (folder + "/file", Outcome())
            let file = WatchedFile(
                path, named: "tokens", maximumBytes: 1_000, seen: nil, clock: ServiceClock(),
                logger: outcome.logger)
            try await body(path, file, outcome)
        }
    }

    private static func write(_ text: String, _ path: String) throws {
        try Data(text.utf8).write(to: URL(fileURLWithPath: path))
    }

    /// Looks until the last text that was taken up is this one.
    private static func check(
        _ file: WatchedFile, _ outcome: Outcome, until text: String
    ) async throws {
        while outcome.taken.withLock({ $0.last }) != text {
            file.check(outcome.take)
            try await Task.sleep(for: .milliseconds(5))
        }
    }

    /// Looks until the log has said something more.
    private static func checkUntilReported(_ file: WatchedFile, _ outcome: Outcome) async throws {
        let told = outcome.lines.withLock { $0.count }
        while outcome.lines.withLock({ $0.count }) == told {
            file.check(outcome.take)
            try await Task.sleep(for: .milliseconds(5))
        }
        for _ in 0..<3 { file.checkNow(outcome.take) }
    }

    private static let complaint = "the file of tokens cannot be read; those known stay: "

    @Test func `What cannot be read now is read once it can be, though nothing else has changed`()
        async throws
    {
        try await Self.with { path, file, outcome in
            try Self.write("one", path)
            try await Self.check(file, outcome, until: "one")
            // Nobody can take the right to read from root, but everybody can give that to write.
            #expect(chmod(path, 0o602) == 0)
            try Self.write("two", path)
            try await Self.checkUntilReported(file, outcome)
            #expect(outcome.taken.withLock { $0.last } == "one")
            #expect(chmod(path, 0o600) == 0)
            try await Self.check(file, outcome, until: "two")
            let told = outcome.lines.withLock { $0 }.filter { $0.hasPrefix(Self.complaint) }
            #expect(told.count == 1)
            #expect(told.first?.contains("everybody may write it (mode 602)") == true)
        }
    }

    @Test func `What makes no sense is told once, and the next that does is taken up`()
        async throws
    {
        try await Self.with { path, file, outcome in
            try Self.write("bad", path)
            try await Self.checkUntilReported(file, outcome)
            #expect(outcome.lines.withLock { $0 } == [Self.complaint + "it makes no sense"])
            try FileManager.default.removeItem(atPath: path)
            try await Self.checkUntilReported(file, outcome)
            try Self.write("one", path)
            try await Self.check(file, outcome, until: "one")
            #expect(outcome.lines.withLock { $0 }.count == 3)
        }
    }

    @Test func `A look that reads an older file does not undo a later one`() async throws {
        try await Self.with { path, file, outcome in
            try Self.write("older", path)
            let (hasRead, mayGoOn) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
            file.check { bytes in
                hasRead.signal()
                mayGoOn.wait()
                return try outcome.take(bytes)
            }
            await Task.detached { hasRead.waitForSignal() }.value
            try Self.write("newer", path)
            file.checkNow(outcome.take)
            mayGoOn.signal()
            try await Self.check(file, outcome, until: "newer")
            for _ in 0..<20 { file.checkNow(outcome.take) }
            #expect(outcome.taken.withLock { $0.last } == "newer")
            #expect(outcome.taken.withLock { $0.first } == "older")
        }
    }

    @Test func `Nobody waits for a look that does not end`() async throws {
        try await Self.with { path, file, outcome in
            try Self.write("one", path)
            let (hasRead, mayGoOn) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
            file.check { bytes in
                hasRead.signal()
                mayGoOn.wait()
                return try outcome.take(bytes)
            }
            await Task.detached { hasRead.waitForSignal() }.value
            // Each comes back; the test's time limit tells if one does not.
            for _ in 0..<1_000 {
                file.checkNow(outcome.take)
                file.check(outcome.take)
            }
            #expect(outcome.taken.withLock { $0.isEmpty })
            mayGoOn.signal()
            try await Self.check(file, outcome, until: "one")
        }
    }
}

extension DispatchSemaphore {
    /// Waits on a thread that a test can spare.
    fileprivate func waitForSignal() { wait() }
}
