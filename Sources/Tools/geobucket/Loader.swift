import DequeModule
import GeoBucketClient
import Interchange
import JSONText
import Objects

/// The service's limits that a loader needs.
struct ServerLimits: Sendable {
    var lineBytes: Int
    var objectSize: DocumentSize

    /// The limits of a service that has its default settings, where none is asked.
    static var usual: ServerLimits {
        let limits = Limits()
        return ServerLimits(lineBytes: limits.lineBytes, objectSize: limits.documentSize)
    }

    init(lineBytes: Int, objectSize: DocumentSize) {
        (self.lineBytes, self.objectSize) = (lineBytes, objectSize)
    }

    init(of connection: LineConnection) async throws {
        let info = try await connection.call("server.info", Array("{}".utf8))
        let numbers = try JSONParser.reading(info) { info in
            (["lineBytes", "objectBytes", "objectCharacters"] as [StaticString]).map {
                info["limits"]?[$0]?.number?.exactInt
            }
        }
        guard let lineBytes = numbers[0], let objectBytes = numbers[1] else {
            throw CommandFailure("the service does not tell its limits")
        }
        self.lineBytes = lineBytes
        // Services used to count bytes alone.
        objectSize = DocumentSize(characters: numbers[2] ?? objectBytes, bytes: objectBytes)
    }
}

/// Sends records in groups through `object.putMany`, several groups at a time.
///
/// A refused group has changed nothing. The record named in the refusal is reported. With
/// `skipsErrors`, the rest of the group is sent again.
struct Loader {
    private let connection: LineConnection
    private let bucket: String
    private let skipsErrors: Bool
    private let keepsMetadata: Bool
    private let groupBytes: Int
    private let start = ContinuousClock.now
    private var group = Group()
    private var underWay: Deque<(group: Group, answer: PendingAnswer)> = []
    private var progress: ProgressLine
    private var recordName = "object"
    private let rejects: RejectsFile?
    private var lastSent = 0
    /// Records of groups that failed as a whole.
    private var failures: [(records: String, reason: String)] = []
    private(set) var summary = Summary()

    private static let groupObjects = 1_000
    private static let groupsUnderWay = 4

    init(
        connection: LineConnection, bucket: String, limits: ServerLimits, skipsErrors: Bool,
        keepsMetadata: Bool = false, rejects: RejectsFile? = nil
    ) {
        self.rejects = rejects
        self.keepsMetadata = keepsMetadata
        self.connection = connection
        self.bucket = bucket
        self.skipsErrors = skipsErrors
        // Room for the envelope and the bucket's name around the objects.
        groupBytes = min(512 * 1_024, limits.lineBytes - 1_024)
        progress = ProgressLine()
    }

    struct Summary: Sendable {
        var objects = 0
        var errors = 0
        var seconds = 0.0
        /// The predefined fields that were not kept.
        var dropped = DroppedFields()
        /// What the source says of itself.
        var note: String?
        /// Why loading ended before the end of the file.
        var stoppedBy: String?

        var line: String {
            let rate = seconds > 0 ? Int(Double(objects) / seconds) : objects
            let time = (seconds * 100).rounded() / 100
            return "loaded \(counted(objects, "object")) in \(time) s (\(rate) objects/s), "
                + counted(errors, "error")
                + (note.map { ", \($0)" } ?? "")
        }
    }

    private struct Group {
        var records: [(number: Int, text: [UInt8], source: [UInt8])] = []
        /// The hashes of their ids.
        var ids: Set<Int> = []
        var bytes = 0

        /// The numbers from the first record to the last.
        var numbers: String { "\(records.first?.number ?? 0)-\(records.last?.number ?? 0)" }
    }

    mutating func load(_ file: some RecordSource) async {
        recordName = file.recordName
        rejects?.head = file.head
        while mayGoOn, let record = next(of: file) {
            await take(record)
            progress.show(summary.objects, file.consumedBytes, file.totalBytes)
            if file.isWaiting { await send() }
        }
        await finish()
        summary.note = file.note
    }

    /// Whether nothing has ended the loading.
    var mayGoOn: Bool {
        summary.stoppedBy == nil && failures.isEmpty && !Interruption.isRequested
    }

    mutating func take(_ record: Record) async {
        switch record.result {
        case .success(let text): await add(record, text)
        case .failure(let error): report(record.number, "\(error)", record.source)
        }
    }

    /// Sends what has not been sent, and waits for all answers.
    mutating func finish() async {
        if failures.isEmpty { await send() }
        while !underWay.isEmpty { await settle() }
        if let first = failures.first {
            let records = failures.map(\.records).joined(separator: ", ")
            let failure =
                "\(recordName)s \(records): \(first.reason); nothing after \(recordName) "
                + "\(lastSent) was sent"
            summary.stoppedBy = summary.stoppedBy.map { "\($0); \(failure)" } ?? failure
        }
        if Interruption.isRequested, summary.stoppedBy == nil {
            summary.stoppedBy =
                "interrupted after \(recordName) \(lastSent); --from \(lastSent + 1) goes on"
        }
        progress.clear()
        summary.seconds = (ContinuousClock.now - start) / .seconds(1)
    }

    /// A file that becomes unreadable ends the loading, whatever --on-error says.
    private mutating func next(of file: some RecordSource) -> Record? {
        do throws(InterchangeError) {
            return try file.next()
        } catch {
            summary.errors += 1
            summary.stoppedBy = "\(error)"
            return nil
        }
    }

    private mutating func add(_ record: Record, _ text: [UInt8]) async {
        let id = record.idHash
        if !keepsMetadata { summary.dropped.note(in: text) }
        // Of two records with one id, the later one replaces the earlier, so they must not be in
        // the same group.
        let isRepeated = id.map { group.ids.contains($0) } ?? false
        if isRepeated || group.records.count == Self.groupObjects
            || group.bytes + text.count + 1 > groupBytes
        {
            await send()
        }
        if let id {
            // A group that was refused is sent again without the record at fault: what comes later
            // must not be stored before that.
            while skipsErrors, underWay.contains(where: { $0.group.ids.contains(id) }) {
                await settle()
            }
            group.ids.insert(id)
        }
        group.records.append((record.number, text, record.source))
        group.bytes += text.count + 1
    }

    private mutating func send() async {
        guard !group.records.isEmpty else { return }
        lastSent = group.records.last!.number
        underWay.append((group, begin(group)))
        group = Group()
        while underWay.count >= Self.groupsUnderWay { await settle() }
    }

    private func begin(_ group: Group) -> PendingAnswer {
        var params = JSONWriter(reserving: group.bytes + 256)
        params.raw("{\"bucket\":")
        params.string(bucket)
        params.raw(",\"objects\":[")
        params.list(group.records) { $1.raw($0.text) }
        params.raw(keepsMetadata ? "],\"withMetadata\":true}" : "]}")
        return connection.begin("object.putMany", params.bytes)
    }

    /// Waits for the answer to the oldest group. If a group fails for a reason other than a record,
    /// or its outcome is unknown, the loading ends, whatever --on-error says.
    private mutating func settle() async {
        guard var (group, answer) = underWay.popFirst() else { return }
        while true {
            do {
                _ = try await answer.result()
                summary.objects += group.records.count
                return
            } catch {
                guard case ClientFailure.refused(let failure) = error,
                    let index = Self.objectIndex(in: failure.path),
                    group.records.indices.contains(index)
                else {
                    summary.errors += 1
                    failures.append((group.numbers, "\(error)"))
                    return
                }
                report(
                    group.records[index].number, "\(failure)", group.records[index].source)
                guard skipsErrors else { return }
                group.records.remove(at: index)
                guard !group.records.isEmpty else { return }
                answer = begin(group)
            }
        }
    }

    private mutating func report(_ number: Int, _ reason: String, _ source: [UInt8]) {
        let problem = "\(recordName) \(number): \(reason)"
        progress.clear()
        summary.errors += 1
        if skipsErrors {
            Console.error("\(problem); skipped")
            rejects?.write(Rejection.lines(recordName, number, reason, source: source))
        } else if summary.stoppedBy == nil {
            summary.stoppedBy = problem
        }
    }

    /// The 17 of `objects[17].location.lat`.
    private static func objectIndex(in path: String?) -> Int? {
        guard let path, path.hasPrefix("objects["), let end = path.firstIndex(of: "]") else {
            return nil
        }
        return Int(path.dropFirst("objects[".count).prefix(upTo: end))
    }
}
