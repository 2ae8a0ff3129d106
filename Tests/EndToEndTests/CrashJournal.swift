import JSONText
import TestSupport

/// What one writer knows of its objects: those whose writes were answered, and the writes that
/// were on their way when the connection ended.
struct CrashJournal: Sendable {
    /// The state of an object: its version, and the number that all of its content derives from.
    struct State: Sendable, Equatable {
        var version: Int
        var number: Int
    }

    /// A write that has been sent: what it makes of each of its objects, nil for a deletion.
    struct SentWrite: Sendable {
        var method: String
        var params: String
        var before: [String: State]
        var after: [String: State?]
    }

    let bucket: String
    let ids: [String]
    var states: [String: State] = [:]
    var unanswered: [SentWrite] = []
    private(set) var answered = 0
    private var lastNumber = 0

    init(writer: Int) {
        bucket = "writer-\(writer)"
        ids = (0..<40).map { "object-\($0)" }
    }

    /// Everything in a document follows from its number, so half a document is seen.
    static func document(_ number: Int) -> String {
        let pad = String(repeating: "\(number % 10)", count: number * 37 % 3_000)
        let point = #"{"_type":"point","lat":\#(number % 91),"lon":\#(number % 181)}"#
        return #"{"n":\#(number),"pad":"\#(pad)","at":\#(point)}"#
    }

    /// The next so many writes, no object in two of them.
    mutating func nextWrites(_ count: Int, _ random: inout SplitMix64) -> [SentWrite] {
        var free = ids.shuffled(using: &random)
        return (0..<count).map { _ in
            lastNumber += 1
            let id = free.removeLast()
            let place = #"{"bucket":"\#(bucket)","id":"\#(id)""#
            let put = #","object":\#(Self.document(lastNumber))}"#
            switch (random.below(6), states[id]) {
            case (0, .some): return write("object.delete", place + "}", [id], deletes: true)
            case (1, .some): return write("object.patch", place + put, [id])
            case (2, _), (3, _):
                let more = [id, free.removeLast(), free.removeLast()]
                let objects = more.map {
                    #"{"_id":"\#($0)",\#(Self.document(lastNumber).dropFirst())"#
                }
                return write(
                    "object.putMany",
                    #"{"bucket":"\#(bucket)","objects":[\#(objects.joined(separator: ","))]}"#, more
                )
            default: return write("object.put", place + put, [id])
            }
        }
    }

    private func write(
        _ method: String, _ params: String, _ ids: [String], deletes: Bool = false
    ) -> SentWrite {
        var write = SentWrite(method: method, params: params, before: [:], after: [:])
        for id in ids {
            write.before[id] = states[id]
            let state = State(version: (states[id]?.version ?? 0) + 1, number: lastNumber)
            write.after.updateValue(deletes ? nil : state, forKey: id)
        }
        return write
    }

    mutating func answered(_ write: SentWrite) {
        answered += 1
        for (id, state) in write.after { states[id] = state }
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
                for (id, state) in write.after { states[id] = state }
            } else if didNot == write.after.count {
                mayHappen = false
            } else {
                problems.append("half of an unanswered write is there: \(write)")
            }
        }
        unanswered = []
        for id in ids where found[id] != states[id] {
            problems.append(
                "\(bucket)/\(id) is \(found[id].map { "\($0)" } ?? "gone"), answered was "
                    + (states[id].map { "\($0)" } ?? "its deletion"))
        }
        return problems
    }
}
