import JSONText
import TestSupport

/// What one writer knows of its objects: those whose writes were answered, and the writes that
/// were on their way when the connection ended.
///
/// It has two buckets: one whose objects change one by one or some together, one that is deleted as a
/// whole.
struct CrashJournal: Sendable {
    /// The state of an object: its version, the number that all of its content derives from, and
    /// whether it is to expire some day.
    struct State: Sendable, Equatable {
        var version: Int
        var number: Int
        var expires: Bool
    }

    /// A write that has been sent: what it makes of each of its objects, nil for a deletion. Objects are
    /// named by bucket and id.
    struct SentWrite: Sendable {
        var method: String
        var params: String
        var before: [String: State]
        var after: [String: State?]
    }

    let buckets: [String]
    private let writer: Int
    private(set) var states: [String: State] = [:]
    var unanswered: [SentWrite] = []
    private(set) var answered = 0
    private var lastNumber = 0

    /// A time of expiry that no test lives to see.
    private static let someDay = 9_000_000_000_000_000

    init(writer: Int) {
        self.writer = writer
        buckets = ["writer-\(writer)", "whole-\(writer)"]
    }

    private var ids: [String] { (0..<40).map { "object-\($0)" } }
    private var wholeIDs: [String] { (0..<10).map { "object-\($0)" } }

    /// Everything in a document follows from its number, so half a document is seen.
    static func document(_ number: Int) -> String {
        let pad = String(repeating: "\(number % 10)", count: number * 37 % 3_000)
        let point = #"{"_type":"point","lat":\#(number % 91),"lon":\#(number % 181)}"#
        return #"{"n":\#(number),"pad":"\#(pad)","at":\#(point)}"#
    }

    /// The next so many writes, no object in two of them.
    mutating func nextWrites(_ count: Int, _ random: inout SplitMix64) -> [SentWrite] {
        var free = ids.shuffled(using: &random)
        var writes = (0..<count).map { _ in
            let id = free.removeLast()
            switch (random.below(6), states["\(buckets[0])/\(id)"]) {
            case (0, .some): return delete(id)
            case (1, .some): return patch(id, &random)
            case (2, _), (3, _):
                return putMany([id, free.removeLast(), free.removeLast()], buckets[0], &random)
            default: return put(id, &random)
            }
        }
        if random.below(4) == 0 {
            let isThere = states.keys.contains { $0.hasPrefix(buckets[1]) }
            writes.append(isThere ? deleteBucket() : putMany(wholeIDs, buckets[1], &random))
        }
        return writes
    }

    private mutating func put(_ id: String, _ random: inout SplitMix64) -> SentWrite {
        let expires = random.below(3) == 0
        return write(
            "object.put",
            #""id":"\#(id)","object":\#(Self.document(lastNumber + 1))"#
                + (expires ? #","expiresAt":\#(Self.someDay)"# : ""),
            [id], buckets[0]
        ) { version, number, _ in State(version: version, number: number, expires: expires) }
    }

    private mutating func patch(_ id: String, _ random: inout SplitMix64) -> SentWrite {
        let becomes = [true, false, nil][random.below(3)]
        let expiry = becomes.map { $0 ? "\(Self.someDay)" : "null" }
        return write(
            "object.patch",
            #""id":"\#(id)","object":\#(Self.document(lastNumber + 1))"#
                + (expiry.map { #","expiresAt":\#($0)"# } ?? ""),
            [id], buckets[0]
        ) { version, number, before in
            State(version: version, number: number, expires: becomes ?? before!.expires)
        }
    }

    private mutating func putMany(
        _ ids: [String], _ bucket: String, _ random: inout SplitMix64
    ) -> SentWrite {
        let objects = ids.map { #"{"_id":"\#($0)",\#(Self.document(lastNumber + 1).dropFirst())"# }
        return write(
            "object.putMany", #""objects":[\#(objects.joined(separator: ","))]"#, ids, bucket
        ) { version, number, _ in State(version: version, number: number, expires: false) }
    }

    private mutating func delete(_ id: String) -> SentWrite {
        write("object.delete", #""id":"\#(id)""#, [id], buckets[0]) { _, _, _ in nil }
    }

    private mutating func deleteBucket() -> SentWrite {
        write("bucket.delete", nil, wholeIDs, buckets[1]) { _, _, _ in nil }
    }

    /// - Parameter after: what becomes of an object, of its next version, the number, what it was.
    private mutating func write(
        _ method: String, _ params: String?, _ ids: [String], _ bucket: String,
        after: (_ version: Int, _ number: Int, _ before: State?) -> State?
    ) -> SentWrite {
        lastNumber += 1
        let key = #""requestKey":"\#(writer)-\#(lastNumber)""#
        let all = [#""bucket":"\#(bucket)""#, params, key].compactMap { $0 }
        var write = SentWrite(
            method: method, params: "{\(all.joined(separator: ","))}", before: [:], after: [:])
        for id in ids {
            let name = "\(bucket)/\(id)"
            write.before[name] = states[name]
            let version = (states[name]?.version ?? 0) + 1
            write.after.updateValue(after(version, lastNumber, states[name]), forKey: name)
        }
        return write
    }

    mutating func answered(_ write: SentWrite) {
        answered += 1
        happened(write)
    }

    mutating func happened(_ write: SentWrite) {
        for (name, state) in write.after { states[name] = state }
    }

    /// Compares with what the service holds after a crash and takes over which of the unanswered
    /// writes happened. Says what is wrong.
    mutating func reconcile(with found: [String: State]) -> [String] {
        var problems: [String] = []
        var mayHappen = true
        for write in unanswered {
            let happened = write.after.filter { found[$0.key] == $0.value }.count
            let didNot = write.after.keys.filter { found[$0] == write.before[$0] }.count
            if happened == write.after.count {
                if !mayHappen { problems.append("\(write.method) happened, one before it did not") }
                self.happened(write)
            } else if didNot == write.after.count {
                mayHappen = false
            } else {
                problems.append("half of an unanswered write is there: \(write)")
            }
        }
        return problems + differences(from: found)
    }

    /// What the service holds otherwise than it answered.
    func differences(from found: [String: State]) -> [String] {
        Set(found.keys).union(states.keys).filter { found[$0] != states[$0] }.sorted().map { name in
            "\(name) is \(found[name].map { "\($0)" } ?? "gone"), answered was "
                + (states[name].map { "\($0)" } ?? "its deletion")
        }
    }
}
