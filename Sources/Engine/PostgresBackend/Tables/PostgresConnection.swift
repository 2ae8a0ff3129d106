import CLibpq
import Glibc
import Runtime

/// One connection to PostgreSQL through libpq. Statements are sent together and answered in one
/// round trip (pipeline mode).
///
///     let connection = try PostgresConnection(address, clock: clock)
///     let rows = try connection.run([.begin, .head, …], until: deadline)
///
/// Every wait has an end, so a network that drops packets does not block a thread for longer. Use a
/// connection on one thread at a time. After `.unavailable` it is of no more use.
final class PostgresConnection {
    private let handle: OpaquePointer
    let clock: ServiceClock
    /// Whether it is of no more use: answers may come that nobody waits for any more.
    private var isBroken = false
    /// Whether a warning has come that may tell of a commit that no standby has confirmed.
    private var isUnconfirmed = false
    /// The names of the prepared statements by their texts.
    private var names: [String: String] = [:]

    /// Connects to the first server of the address that accepts. One that does not answer costs
    /// three seconds.
    ///
    /// - Throws: `.unavailable` if none does.
    init(_ address: PostgresAddress, clock: ServiceClock) throws(PostgresFailure) {
        let (connected, reasons) = address.connect()
        guard let handle = connected else { throw .unavailable(Self.line(reasons)) }
        // From here on `deinit` ends the connection, even if this throws.
        self.handle = handle
        self.clock = clock
        PQsetnonblocking(handle, 1)
        // libpq calls this only while it is called itself, by a method of this object.
        PQsetNoticeReceiver(
            handle,
            { connection, notice in
                guard let connection, let notice, PostgresConnection.mayEndWait(notice)
                else { return }
                Unmanaged<PostgresConnection>.fromOpaque(connection).takeUnretainedValue()
                    .isUnconfirmed = true
            }, Unmanaged.passUnretained(self).toOpaque())
        guard PQenterPipelineMode(handle) == 1 else {
            throw .unavailable("the connection has no pipeline mode")
        }
    }

    deinit { PQfinish(handle) }

    /// The process of the server, as it was announced. A pooler announces another number.
    var announcedProcess: Int64 { Int64(PQbackendPID(handle)) }

    /// The version of the server: 150018 for 15.18.
    var serverVersion: Int { Int(PQserverVersion(handle)) }

    /// Whether a notice may be the warning that a commit no longer waits for its standbys, because
    /// somebody has canceled the wait or ends the session. The transaction is committed on this
    /// server, and may be lost with it.
    ///
    /// Source: `SyncRepWaitForLSN` in `src/backend/replication/syncrep.c` of PostgreSQL. The texts are
    /// in the server's language, so the SQLSTATEs tell: `warning` and `admin_shutdown`.
    private static func mayEndWait(_ notice: OpaquePointer) -> Bool {
        ["01000", "57P01"].contains(field("C", of: notice))
    }

    /// The failure that the connection reports.
    private var failure: PostgresFailure {
        let text = PQerrorMessage(handle).map { String(cString: $0) } ?? ""
        return .unavailable(Self.line(text))
    }

    /// The lines of a message as one.
    private static func line(_ text: String) -> String {
        text.split(whereSeparator: \.isNewline).joined(separator: "; ")
    }

    // MARK: Statements

    /// Runs statements in their order, in one round trip, and returns the rows of each.
    ///
    /// - Throws: the failure of the first statement that failed. The statements after it did not
    ///   run. If the last one is a `COMMIT` whose wait for standbys was canceled, `.unavailable`: as
    ///   after a lost connection, its outcome is unknown.
    func run(
        _ statements: [PostgresStatement], until deadline: Deadline
    ) throws(PostgresFailure) -> [PostgresRows] {
        guard !isBroken else { throw .unavailable("the connection was lost before") }
        do throws(PostgresFailure) {
            return try exchange(statements, until: deadline)
        } catch {
            if case .unavailable = error { isBroken = true }
            throw error
        }
    }

    private func exchange(
        _ statements: [PostgresStatement], until deadline: Deadline
    ) throws(PostgresFailure) -> [PostgresRows] {
        isUnconfirmed = false
        var isNew: [Bool] = []
        for statement in statements {
            isNew.append(try send(statement))
        }
        guard PQpipelineSync(handle) == 1 else { throw failure }
        try flush(until: deadline)
        var rows: [PostgresRows] = []
        var first: PostgresFailure?
        for isNew in isNew {
            if isNew { _ = try take(&first, until: deadline) }
            if let found = try take(&first, until: deadline) { rows.append(found) }
        }
        guard let end = try next(until: deadline) else { throw failure }
        defer { PQclear(end) }
        guard PQresultStatus(end) == PGRES_PIPELINE_SYNC else { throw failure }
        if let first {
            // What was to be prepared may not be.
            for (statement, isNew) in zip(statements, isNew) where isNew {
                names[statement.sql] = nil
            }
            throw first
        }
        if isUnconfirmed, statements.last?.sql == Self.commit {
            throw .unavailable("the standbys have not confirmed a commit")
        }
        return rows
    }

    /// The statement whose warnings matter.
    private static let commit = "COMMIT"

    /// Sends a statement, and prepares it if it is new to the connection.
    private func send(_ statement: PostgresStatement) throws(PostgresFailure) -> Bool {
        let known = names[statement.sql]
        let name = known ?? "s\(counter)"
        if known == nil {
            counter += 1
            names[statement.sql] = name
            let types = statement.parameters.map(\.type)
            guard PQsendPrepare(handle, name, statement.sql, Int32(types.count), types) == 1 else {
                throw failure
            }
        }
        guard execute(name, statement.parameters) == 1 else { throw failure }
        return known == nil
    }

    private var counter = 0

    private func execute(_ name: String, _ parameters: [PostgresParameter]) -> Int32 {
        let lengths = parameters.map { Int32($0.bytes?.count ?? 0) }
        let formats = [Int32](repeating: 1, count: parameters.count)
        // libpq copies the values before it returns.
        return Self.withPointers(parameters[...], []) { values in
            PQsendQueryPrepared(
                handle, name, Int32(parameters.count), values, lengths, formats, 1)
        }
    }

    private static func withPointers(
        _ parameters: ArraySlice<PostgresParameter>, _ pointers: [UnsafePointer<CChar>?],
        _ body: ([UnsafePointer<CChar>?]) -> Int32
    ) -> Int32 {
        guard let first = parameters.first else { return body(pointers) }
        guard let bytes = first.bytes else {
            return withPointers(parameters.dropFirst(), pointers + [nil], body)
        }
        // An empty value needs an address too.
        return (bytes.isEmpty ? [0] : bytes).withUnsafeBytes { raw in
            withPointers(
                parameters.dropFirst(),
                pointers + [raw.baseAddress!.assumingMemoryBound(to: CChar.self)], body)
        }
    }

    /// The rows of the next statement; nil, and its failure in `first` if that is still nil.
    private func take(
        _ first: inout PostgresFailure?, until deadline: Deadline
    ) throws(PostgresFailure) -> PostgresRows? {
        guard let result = try next(until: deadline) else { throw failure }
        let rows = PostgresRows(result)
        let status = PQresultStatus(result)
        let isDone = status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK
        if !isDone, status != PGRES_PIPELINE_ABORTED, first == nil {
            first = Self.failure(of: result)
        }
        // A statement's results end with a null.
        if let more = try next(until: deadline) { PQclear(more) }
        return isDone ? rows : nil
    }

    private static func failure(of result: OpaquePointer) -> PostgresFailure {
        let message = field("M", of: result)
        return PostgresFailure(
            state: field("C", of: result),
            message: line(
                message.isEmpty ? String(cString: PQresultErrorMessage(result)) : message))
    }

    /// A field of an error or a notice: `C` for its SQLSTATE, `M` for its message.
    private static func field(_ code: Character, of result: OpaquePointer) -> String {
        PQresultErrorField(result, Int32(code.asciiValue!)).map { String(cString: $0) } ?? ""
    }

    // MARK: Notifications

    /// Waits for a notification on the channels that the connection listens to.
    ///
    /// - Returns: the payloads of those that have arrived; none at the deadline, or when the wait is
    ///   interrupted.
    func notifications(
        until deadline: Deadline, unless interrupt: Interrupt
    ) throws(PostgresFailure) -> [String] {
        while !interrupt.isRaised {
            var payloads: [String] = []
            while let notice = PQnotifies(handle) {
                payloads.append(String(cString: notice.pointee.extra))
                PQfreemem(notice)
            }
            if !payloads.isEmpty { return payloads }
            guard try isReadable(until: deadline, unless: interrupt) else { return [] }
            guard PQconsumeInput(handle) == 1 else { throw failure }
        }
        return []
    }

    // MARK: Copies

    /// Runs a `COPY … TO STDOUT (FORMAT binary)` and passes each row on.
    ///
    /// - Parameter answerTime: the time that the server may take for the next row.
    func copy(
        _ sql: String, _ answerTime: Duration, _ body: (UnsafeRawBufferPointer) throws -> Void
    ) throws {
        guard PQexitPipelineMode(handle) == 1 else { throw failure }
        guard PQsendQuery(handle, sql) == 1 else { throw failure }
        try flush(until: clock.deadline(after: answerTime))
        guard let begin = try next(until: clock.deadline(after: answerTime)) else { throw failure }
        let status = PQresultStatus(begin)
        defer { PQclear(begin) }
        guard status == PGRES_COPY_OUT else { throw Self.failure(of: begin) }
        while true {
            var buffer: UnsafeMutablePointer<CChar>?
            let count = PQgetCopyData(handle, &buffer, 1)
            if count > 0, let buffer {
                defer { PQfreemem(buffer) }
                try body(UnsafeRawBufferPointer(start: buffer, count: Int(count)))
            } else if count == 0 {
                guard try isReadable(until: clock.deadline(after: answerTime)) else {
                    throw Self.silence
                }
                guard PQconsumeInput(handle) == 1 else { throw failure }
            } else {
                break
            }
        }
        while let end = try next(until: clock.deadline(after: answerTime)) {
            defer { PQclear(end) }
            guard PQresultStatus(end) == PGRES_COMMAND_OK else { throw Self.failure(of: end) }
        }
        guard PQenterPipelineMode(handle) == 1 else { throw failure }
    }

    // MARK: Waiting

    private func next(
        until deadline: Deadline
    ) throws(PostgresFailure) -> OpaquePointer? {
        while PQisBusy(handle) == 1 {
            guard try isReadable(until: deadline) else { throw Self.silence }
            guard PQconsumeInput(handle) == 1 else { throw failure }
        }
        return PQgetResult(handle)
    }

    private func flush(until deadline: Deadline) throws(PostgresFailure) {
        while true {
            let state = PQflush(handle)
            if state == 0 { return }
            guard state == 1 else { throw failure }
            // The server may wait until its own output is read.
            guard try poll(POLLIN | POLLOUT, until: deadline) else { throw Self.silence }
            guard PQconsumeInput(handle) == 1 else { throw failure }
        }
    }

    private func isReadable(
        until deadline: Deadline, unless interrupt: Interrupt? = nil
    ) throws(PostgresFailure) -> Bool { try poll(POLLIN, until: deadline, unless: interrupt) }

    private func poll(
        _ events: Int32, until deadline: Deadline, unless interrupt: Interrupt? = nil
    ) throws(PostgresFailure) -> Bool {
        let socket = PQsocket(handle)
        guard socket >= 0 else { throw failure }
        do throws(PollFailure) {
            return try isReady(socket, for: events, until: deadline, unless: interrupt)
        } catch {
            throw .unavailable("poll failed: error \(error.code)")
        }
    }

    private static let silence = PostgresFailure.unavailable("the server does not answer")
}
