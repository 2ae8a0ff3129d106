import Histogram

/// The events in each interval of a run.
///
/// A latency belongs to the interval in which its request was due, so a stall shows from its
/// beginning. Answers and failures belong to the interval in which they came.
struct Timeline {
    struct Interval {
        var due = 0
        var answered = 0
        var failed = 0
        /// Nanoseconds to two significant digits: there are many of these.
        var latencies = Histogram<UInt32>(numberOfSignificantValueDigits: .two)
    }

    let begin: UInt64
    let nanoseconds: UInt64
    private(set) var intervals: [Interval] = []

    /// - Parameter seconds: the length of an interval.
    init(begin: UInt64, seconds: Double) {
        self.begin = begin
        nanoseconds = UInt64(seconds * 1e9)
    }

    mutating func record(due: UInt64, end: UInt64, failed: Bool) {
        let interval = position(due)
        intervals[interval].due += 1
        intervals[interval].latencies.record(end - due)
        let last = position(end)
        intervals[last].answered += failed ? 0 : 1
        intervals[last].failed += failed ? 1 : 0
    }

    /// The last interval that had ended by `time`.
    func complete(at time: UInt64) -> Interval? {
        let position = Int((time - begin) / nanoseconds) - 1
        return intervals.indices.contains(position) ? intervals[position] : nil
    }

    /// The number of the interval that contains a time; the interval is created if it is missing.
    private mutating func position(_ time: UInt64) -> Int {
        let position = Int((max(time, begin) - begin) / nanoseconds)
        while intervals.count <= position { intervals.append(Interval()) }
        return position
    }
}
