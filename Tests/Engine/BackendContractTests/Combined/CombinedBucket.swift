import GeoBucketClient
import JSONText
import Objects
import Synchronization
import TestSupport

/// A bucket of a run, the history that its reads are compared with, and its one writer.
final class CombinedBucket: Sendable {
    let name: String
    let size: Int
    /// Whether documents lack members, and objects are deleted one by one: a column then has missing
    /// values from its beginning. Otherwise objects go by expiring, and the bucket as a whole.
    let isRagged: Bool
    let history: CombinedHistory

    init(name: String, size: Int, isRagged: Bool, time: Int) {
        (self.name, self.size, self.isRagged) = (name, size, isRagged)
        history = CombinedHistory(time: time)
    }

    func objects() -> [ModelObject] { history.present.bucket.objects }
}

/// What a run found that should not be.
struct Disagreement: Error, CustomStringConvertible {
    let description: String
}

/// The writer of one bucket in one round: sends writes ahead of their answers.
struct CombinedWriter {
    let bucket: CombinedBucket
    let world: CombinedWorld
    let connection: LineConnection
    let context: String
    var random: SplitMix64

    private struct Pending {
        let write: ModelWrite
        let number: Int
        let expected: ModelAnswer
        let answer: PendingAnswer
    }

    /// Some writes one behind the other, with a read behind them that has to know of all.
    mutating func burst() async throws {
        var pending: [Pending] = []
        for write in writes() {
            let (number, expected) = bucket.history.begin {
                $0.bucket.perform(write, at: $0.time)
            }
            let (method, params) = write.request(bucket.name)
            let line = #"{"jsonrpc":"2.0","id":1,"method":"\#(method)","params":\#(params)}"#
            pending.append(
                Pending(
                    write: write, number: number, expected: expected,
                    answer: connection.begin(Array(line.utf8))))
        }
        if let last = pending.last, random.oneIn(2) {
            let reader = CombinedReader(
                bucket: bucket, world: world, client: RemoteClient(connection: connection),
                context: context)
            try await reader.count(&random, knowing: last.number)
        }
        for one in pending {
            let answer = try await Self.answer(one.answer, to: one.write)
            guard answer == one.expected else {
                throw Disagreement(
                    description: "\(context): \(one.write.request(bucket.name)) was answered by "
                        + "\(answer), expected \(one.expected)")
            }
            bucket.history.know(one.number)
        }
    }

    private static func answer(
        _ pending: PendingAnswer, to write: ModelWrite
    ) async throws -> ModelAnswer {
        let result: JSONValue
        do {
            result = try JSONValue(parsing: try await pending.result())
        } catch ClientFailure.refused(let failure) {
            return .refused(failure.errorCode)
        }
        switch write {
        case .put, .patch: return .stored([stored(result)])
        case .putMany: return .stored((result["objects"]?.array ?? []).map(stored))
        case .delete: return .done
        case .deleteWhere, .deleteBucket: return .deleted(result["deleted"]?.int ?? -1)
        }
    }

    private static func stored(_ answer: JSONValue) -> String {
        "\(answer["_id"]?.string ?? "?") \(answer["_version"]?.int ?? -1)"
    }

    // MARK: What is written

    private mutating func writes() -> [ModelWrite] {
        let moment = bucket.history.present
        guard moment.bucket.exists else { return [fill()] }
        switch random.below(30) {
        case 0: return [.deleteBucket, fill()]
        case 1...4: return [fill()]
        case 5 where bucket.isRagged: return [.deleteWhere(.object(["type": .string("all")]))]
        case 6...8 where bucket.isRagged:
            return [.deleteWhere(world.clause(on: moment.bucket.objects, &random))]
        default: return (0..<1 + random.below(6)).map { _ in single(moment) }
        }
    }

    /// Brings the bucket to its size again, some objects only for a while.
    private mutating func fill() -> ModelWrite {
        let count = 1 + random.below(min(bucket.size, 300))
        let ids = (0..<bucket.size).shuffled(using: &random).prefix(count).map { "o\($0)" }
        return .putMany(ids.map { ($0, document()) }, expiry(oneIn: 3))
    }

    private mutating func single(_ moment: CombinedHistory.Moment) -> ModelWrite {
        let id = "o\(random.below(bucket.size))"
        switch random.below(bucket.isRagged ? 10 : 8) {
        case 0...4: return .put(id: id, document(), expiry(oneIn: 4))
        case 5...7:
            let patch = world.patch(serial(), isRagged: bucket.isRagged, &random)
            return .patch(id: id, patch, random.oneIn(4) ? expiry(oneIn: 2) : .unchanged)
        default: return .delete(id: id)
        }
    }

    private mutating func document() -> JSONValue {
        world.document(serial(), isRagged: bucket.isRagged, &random)
    }

    /// A number that no other document of the bucket has, nearly always.
    private mutating func serial() -> Int { random.below(1 << 30) }

    private mutating func expiry(oneIn times: Int) -> Expiry {
        guard random.oneIn(times) else { return .never }
        return .at(Int64(bucket.history.present.time + 1 + random.below(2_000)))
    }
}
