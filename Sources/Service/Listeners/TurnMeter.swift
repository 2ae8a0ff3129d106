import CoreMetrics
import NIOCore
import NIOPosix
import Runtime
import Synchronization

/// Measures the processor time of an event loop's turns. A turn is what a loop does between two
/// looks at its sockets; all its connections wait meanwhile.
///
/// A turn takes no more processor time than time. To ask for the processor time takes as long as a
/// part of a request, so short turns count with their time, and the thread's processor time is not
/// asked for until they have come to a tenth of a millisecond together. A long turn may therefore
/// count for a tenth of a millisecond too much.
final class TurnMeter: NIOEventLoopMetricsDelegate {
    private struct Loop {
        /// The thread's processor time when it was last asked for, in nanoseconds.
        var processorTime: Int64 = 0
        /// The time of the turns since then, in nanoseconds.
        var uncounted: Int64 = 0
    }

    private static let short: Int64 = 100_000

    private let loops = Mutex<[ObjectIdentifier: Loop]>([:])
    private let turns = Timer(
        label: "geobucket_turn_processor_seconds", dimensions: [("thread", "loop")])

    /// Counts a turn. It is called on the thread of the loop.
    func processedTick(info: NIOEventLoopTickInfo) {
        let time = (info.endTime - info.startTime).nanoseconds
        let counted = loops.withLock { loops -> Int64 in
            let loop = loops[info.eventLoopID, default: Loop()]
            guard loop.uncounted + time > Self.short else {
                loops[info.eventLoopID] = Loop(
                    processorTime: loop.processorTime, uncounted: loop.uncounted + time)
                return time
            }
            let now = ThreadClock.now.nanoseconds
            loops[info.eventLoopID] = Loop(processorTime: now)
            return min(time, now - loop.processorTime)
        }
        turns.recordNanoseconds(counted)
    }
}
