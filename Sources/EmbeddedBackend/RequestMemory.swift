import Backend
import Crypto
import JSONText
import ObjectStore
import Objects

/// The writes of the last 24 hours that their clients may repeat: in the store, so that a restart
/// forgets none.
///
/// Only writes that were done are remembered: a refused one has changed nothing, so its repeat is
/// judged anew.
struct RequestMemory {
    let transaction: StoreTransaction
    let limit: Int
    let now: Int64

    static let milliseconds: Int64 = 24 * 3_600_000

    /// So many forgotten ones go with each that is remembered.
    private static let sweptAtOnce: Int64 = 4

    /// The answer of the first of these requests; nil when this is the first.
    ///
    /// - Throws: a `ServiceFailure` when the key stands for another request, or when there is no
    ///   room for one more.
    func answer(to key: RequestKey) throws -> WriteAnswer? {
        guard let first = try transaction.request(key: key.text),
            first.time > now - Self.milliseconds
        else {
            try transaction.deleteRequests(
                until: now - Self.milliseconds, atMost: Self.sweptAtOnce)
            guard try transaction.requestCount() < limit else {
                throw ServiceFailure(
                    .tooManyRequests,
                    "\(limit) writes with a requestKey are remembered already, no more are taken "
                        + "until some are a day old",
                    at: "requestKey",
                    retryAfterMilliseconds: try millisecondsUntilRoom())
            }
            return nil
        }
        guard first.digest == Self.digest(key) else {
            throw ServiceFailure(
                .invalidInputData,
                "the requestKey \(quoted(key.text)) was given to another request before",
                at: "requestKey")
        }
        return try Self.decode(first.answer)
    }

    private func millisecondsUntilRoom() throws -> Int {
        let oldest = try transaction.oldestRequestTime() ?? now
        return Int(max(oldest + Self.milliseconds - now, 1))
    }

    func remember(_ answer: WriteAnswer, to key: RequestKey) throws {
        let request = RememberedRequest(
            time: now, digest: Self.digest(key), answer: Self.encode(answer))
        try transaction.remember(request, key: key.text)
    }

    private static func digest(_ key: RequestKey) -> [UInt8] {
        Array(SHA256.hash(data: key.request).prefix(16))
    }

    /// A number of deletions, or `[[id, created, modified, version], …]`.
    private static func encode(_ answer: WriteAnswer) -> [UInt8] {
        var writer = JSONWriter()
        switch answer {
        case .deleted(let count): writer.integer(count)
        case .stored(let objects):
            writer.byte(UInt8(ascii: "["))
            writer.list(objects) { object, writer in
                writer.byte(UInt8(ascii: "["))
                writer.string(object.id.text)
                for number in [object.created, object.modified, object.version] {
                    writer.byte(UInt8(ascii: ","))
                    writer.integer(number)
                }
                writer.byte(UInt8(ascii: "]"))
            }
            writer.byte(UInt8(ascii: "]"))
        }
        return writer.bytes
    }

    private static func decode(_ text: [UInt8]) throws -> WriteAnswer {
        let answer = try JSONParser.reading(text) { view -> WriteAnswer? in
            if let count = view.number?.exactInt { return .deleted(count) }
            let objects = view.elements.compactMap { object -> ObjectMetadata? in
                let id = object.elements.first { $0.kind == .string }?.string
                let numbers = object.elements.compactMap { $0.number?.exactInt.map(Int64.init) }
                guard let id, numbers.count == 3 else { return nil }
                return ObjectMetadata(
                    id: ObjectID(trusted: id), created: numbers[0], modified: numbers[1],
                    version: numbers[2])
            }
            return objects.count == view.count ? .stored(objects) : nil
        }
        guard let answer else { throw StoreFailure.damaged("a remembered answer cannot be read") }
        return answer
    }
}
