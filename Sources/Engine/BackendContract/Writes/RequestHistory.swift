import Digests
import Objects

/// The writes of the last 24 hours that clients may repeat. They are in the store, so they survive
/// a restart.
///
/// Only successful writes are remembered. A rejected write has changed nothing, so a repeat of it
/// is evaluated again.
struct RequestHistory {
    let ledger: any RequestLedger
    let limit: Int
    let now: Int64

    /// The number of old requests that are forgotten whenever one is remembered.
    private static var sweptAtOnce: Int { 4 }

    /// Requests up to this time are forgotten.
    private var horizon: Int64 { now - RememberedRequest.milliseconds }

    /// The answer to the first request with this key; nil if this is the first.
    ///
    /// - Throws: a `ServiceFailure` if the key belongs to another request, or if there is no room
    ///   for one more.
    func answer(to key: RequestKey) throws -> WriteAnswer? {
        guard let first = try ledger.request(key: key.text), first.time > horizon else {
            try makeRoom()
            return nil
        }
        guard first.digest == Self.digest(key) else {
            throw ServiceFailure(
                .invalidInputData,
                "the requestKey \(quoted(key.text)) was given to another request before",
                at: "requestKey")
        }
        guard let answer = WriteAnswer(remembered: first.answer) else {
            throw ServiceFailure(
                .undefined, "the store is damaged: a remembered answer cannot be read")
        }
        return answer
    }

    private func makeRoom() throws {
        try ledger.deleteRequests(until: horizon, atMost: Self.sweptAtOnce)
        guard try !ledger.remembers(atLeast: limit) else {
            // A clock that was ahead may have given it a time in the future.
            let oldest = min(try ledger.oldestRequestTime() ?? now, now)
            throw ServiceFailure(
                .tooManyRequests,
                "\(limit) writes with a requestKey are remembered already, no more are taken "
                    + "until some are a day old",
                at: "requestKey", retryAfterMilliseconds: Int(max(oldest - horizon, 1)))
        }
    }

    func remember(_ answer: WriteAnswer, to key: RequestKey) throws {
        let request = RememberedRequest(
            time: now, digest: Self.digest(key), answer: answer.remembered)
        try ledger.remember(request, key: key.text)
    }

    private static func digest(_ key: RequestKey) -> [UInt8] {
        Array(SHA256.digest(of: key.request).prefix(16))
    }
}
