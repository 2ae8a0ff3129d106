import JSONText
import Objects
import Synchronization

/// The buckets that most requests are about, about how many, and how long those took.
///
/// Of more buckets than are kept the rarest makes room for a new one, which takes its numbers over:
/// what most requests are about is among those that are kept, and is counted too high rather than too
/// low.
///
/// - Reference: Metwally, Agrawal and El Abbadi, "Efficient Computation of Frequent and Top-k Elements
///   in Data Streams", ICDT 2005.
final class BusyBuckets: Sendable {
    fileprivate struct Use {
        var requests = 0
        var microseconds: Int64 = 0
        /// What of these a bucket took over that made room.
        var takenOver = (requests: 0, microseconds: Int64(0))
    }

    /// The requests of a bucket since it was kept last.
    struct Counted: Equatable {
        let bucket: BucketName
        let requests: Int
        let microseconds: Int64
    }

    fileprivate struct State {
        var uses: [BucketName: Use] = [:]
        /// Requests about buckets that were not kept.
        var strangers = 0
    }

    private let state = Mutex(State())

    private static let mostBuckets = 100
    /// Of the requests about buckets that are not kept, one in so many counts, for all of them: to
    /// make room costs a look at all.
    fileprivate static let strangersForRoom = 16
    /// How many `server.stats` tells.
    private static let told = 10

    /// Counts a request, unless another thread counts one at this moment.
    func count(_ bucket: BucketName, nanoseconds: Int64) {
        _ = state.withLockIfAvailable { state in
            guard state.uses[bucket] != nil || state.uses.count < Self.mostBuckets else {
                return state.takeStranger(bucket, nanoseconds / 1_000)
            }
            state.uses[bucket, default: Use()].requests += 1
            state.uses[bucket]?.microseconds += nanoseconds / 1_000
        }
    }

    /// All that are kept, in no order. A number does not fall while its bucket is kept, and begins anew
    /// when a bucket is kept again.
    var counted: [Counted] {
        state.withLock { $0.uses }.map { bucket, use in
            Counted(
                bucket: bucket, requests: use.requests - use.takenOver.requests,
                microseconds: use.microseconds - use.takenOver.microseconds)
        }
    }

    /// Appends the busiest ones as an array, by the time that their requests took.
    func write(to writer: inout JSONWriter) {
        let uses = state.withLock { $0.uses }.sorted {
            ($1.value.microseconds, $0.key) < ($0.value.microseconds, $1.key)
        }
        writer.byte(UInt8(ascii: "["))
        writer.list(uses.prefix(Self.told)) { use, writer in
            writer.raw("{\"bucket\":")
            writer.string(use.key.text)
            writer.key("requests")
            writer.integer(use.value.requests)
            writer.key("microseconds")
            writer.integer(use.value.microseconds)
            writer.byte(UInt8(ascii: "}"))
        }
        writer.byte(UInt8(ascii: "]"))
    }
}

extension BusyBuckets.State {
    fileprivate mutating func takeStranger(_ bucket: BucketName, _ microseconds: Int64) {
        strangers += 1
        guard strangers % BusyBuckets.strangersForRoom == 0,
            let rarest = uses.min(by: { $0.value.requests < $1.value.requests })
        else { return }
        uses[rarest.key] = nil
        var use = rarest.value
        use.takenOver = (use.requests, use.microseconds)
        use.requests += BusyBuckets.strangersForRoom
        use.microseconds += microseconds * Int64(BusyBuckets.strangersForRoom)
        uses[bucket] = use
    }
}
