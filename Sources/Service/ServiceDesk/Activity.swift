import BackendContract
import JSONText
import Objects
import Synchronization

/// The costly reads that run, or wait for a thread, so that they can be seen and ended.
///
/// Reads that cost little are not among them: they end before anybody could look.
public final class Activity: Sendable {
    private struct Entry: Sendable {
        let method: MethodName
        let principal: String?
        let address: String
        /// By the monotonic clock, in nanoseconds.
        let begin: Int64
        var bucket: BucketName?
        var plan: String?
        let end: @Sendable () -> Void

        func write(_ id: Int, now: Int64, to writer: inout JSONWriter) {
            writer.raw("{\"id\":")
            writer.integer(id)
            writer.key("method")
            writer.string("\(method.text)")
            if let bucket {
                writer.key("bucket")
                writer.string(bucket.text)
            }
            if let principal {
                writer.key("principal")
                writer.string(principal)
            }
            writer.key("address")
            writer.string(address)
            writer.key("milliseconds")
            writer.integer(max(0, now - begin) / 1_000_000)
            if let plan {
                writer.key("plan")
                writer.string(plan)
            }
            writer.byte(UInt8(ascii: "}"))
        }
    }

    private struct State {
        var last = 0
        var entries: [Int: Entry] = [:]
    }

    private let state = Mutex(State())

    init() {}

    /// Notes a read.
    ///
    /// - Parameters:
    ///   - begin: when its turn came, by the monotonic clock in nanoseconds.
    ///   - preparation: of a read that is planned already.
    ///   - end: cancels it.
    /// - Returns: its id.
    public func begin(
        _ method: MethodName, by caller: Caller, since begin: Int64,
        _ preparation: Preparation?, end: @escaping @Sendable () -> Void
    ) -> Int {
        let outline = preparation?.outline
        let entry = Entry(
            method: method, principal: caller.grant?.principal, address: caller.address,
            begin: begin, bucket: outline?.bucket, plan: outline?.plan, end: end)
        return state.withLock { state in
            state.last += 1
            state.entries[state.last] = entry
            return state.last
        }
    }

    /// Notes how a read will run that was not planned when it began.
    public func note(_ preparation: Preparation, of id: Int) {
        guard let outline = preparation.outline else { return }
        state.withLock { state in
            guard state.entries[id]?.plan == nil else { return }
            state.entries[id]?.bucket = outline.bucket
            state.entries[id]?.plan = outline.plan
        }
    }

    /// Forgets a read that has been answered.
    public func end(_ id: Int) { state.withLock { _ = $0.entries.removeValue(forKey: id) } }

    /// Cancels a read; false if there is none of this id any more.
    func cancel(_ id: Int) -> Bool {
        guard let entry = state.withLock({ $0.entries[id] }) else { return false }
        entry.end()
        return true
    }

    /// Appends the reads as an array, the oldest first, as many as fit.
    func write(now: Int64, maximumBytes: Int, to writer: inout JSONWriter) {
        let entries = state.withLock { $0.entries }.sorted { $0.key < $1.key }
        let start = writer.count
        writer.byte(UInt8(ascii: "["))
        for (position, (id, entry)) in entries.enumerated() {
            let before = writer.count
            if position > 0 { writer.byte(UInt8(ascii: ",")) }
            entry.write(id, now: now, to: &writer)
            if writer.count - start >= maximumBytes {
                writer.truncate(to: before)
                break
            }
        }
        writer.byte(UInt8(ascii: "]"))
    }
}
