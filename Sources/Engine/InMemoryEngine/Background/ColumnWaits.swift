import BackendContract
import Objects
import Runtime

/// The reads that wait for columns of some bucket; each is told once. They hold nothing else: no
/// thread, no place in a queue, no state.
struct ColumnWaits {
    /// What is called when a read need not wait any more, with the reason if it waits in vain.
    typealias Ready = @Sendable (ServiceFailure?) -> Void

    private struct Wait {
        let fields: Set<FieldPath>
        let end: MonotonicTime
        let ready: Ready
    }

    private var waits: [BucketName: [Int: Wait]] = [:]
    private var lastNumber = 0

    /// The number of reads that wait.
    var count: Int { waits.values.reduce(0) { $0 + $1.count } }

    /// - Returns: the number of the wait.
    mutating func add(
        for fields: Set<FieldPath>, of bucket: BucketName, until end: MonotonicTime,
        _ ready: @escaping Ready
    ) -> Int {
        lastNumber += 1
        waits[bucket, default: [:]][lastNumber] = Wait(fields: fields, end: end, ready: ready)
        return lastNumber
    }

    /// Ends one wait, if it has not ended yet.
    mutating func take(_ number: Int, of bucket: BucketName) -> Ready? {
        let wait = waits[bucket]?.removeValue(forKey: number)
        if waits[bucket]?.isEmpty == true { waits[bucket] = nil }
        return wait?.ready
    }

    /// Ends the waits of a bucket for which some field will not come any more, or has come.
    mutating func take(
        of bucket: BucketName, unless isUnderWay: (FieldPath) -> Bool
    ) -> [Ready] {
        takeAll(of: bucket) { !$0.fields.allSatisfy(isUnderWay) }
    }

    /// Ends the waits whose time is over.
    mutating func takeOverdue(at now: MonotonicTime) -> [Ready] {
        Array(waits.keys).flatMap { takeAll(of: $0) { $0.end <= now } }
    }

    /// Ends all waits.
    mutating func takeAll() -> [Ready] {
        defer { waits = [:] }
        return waits.values.flatMap { $0.values.map(\.ready) }
    }

    private mutating func takeAll(
        of bucket: BucketName, where isTaken: (Wait) -> Bool
    ) -> [Ready] {
        guard let all = waits[bucket] else { return [] }
        let taken = all.filter { isTaken($0.value) }
        guard !taken.isEmpty else { return [] }
        let rest = all.filter { taken[$0.key] == nil }
        waits[bucket] = rest.isEmpty ? nil : rest
        // The longest wait first.
        return taken.sorted { $0.key < $1.key }.map(\.value.ready)
    }
}
