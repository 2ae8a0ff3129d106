import Histogram

/// How long events take: from a write's answer to the arrival of its event.
///
/// A write is recognised by the object's id and the version that it made. An event that comes before the
/// answer of its write counts with no delay at all.
struct EventDelays: Sendable {
    /// A version of an object.
    struct Version: Hashable {
        var id: String
        var version: Int
    }

    /// Nanoseconds to three significant digits.
    private(set) var delays = Histogram<UInt32>(numberOfSignificantValueDigits: .three)
    /// When the answers of recent writes came.
    private var answers: [Version: UInt64] = [:]
    /// How many events came before the answers of their writes.
    private var early: [Version: Int] = [:]
    /// Both, the oldest first.
    private var recent: [Version] = []
    private var oldest = 0

    /// So many writes are remembered.
    static let most = 1 << 16

    mutating func answered(_ write: Version, at time: UInt64) {
        for _ in 0..<(early.removeValue(forKey: write) ?? 0) { delays.record(0) }
        guard answers.updateValue(time, forKey: write) == nil else { return }
        remember(write)
    }

    mutating func arrived(_ write: Version, at time: UInt64) {
        if let answer = answers[write] {
            delays.record(time - min(answer, time))
        } else {
            if early[write] == nil { remember(write) }
            early[write, default: 0] += 1
        }
    }

    private mutating func remember(_ write: Version) {
        if recent.count < Self.most { return recent.append(write) }
        answers[recent[oldest]] = nil
        early[recent[oldest]] = nil
        recent[oldest] = write
        oldest = (oldest + 1) % Self.most
    }

    /// The delays since the last call.
    mutating func takeDelays() -> Histogram<UInt32> {
        defer { delays = Histogram(numberOfSignificantValueDigits: .three) }
        return delays
    }
}

/// What the watches of a stage were told.
struct WatchTally: Sendable {
    /// Objects that entered, changed or left.
    var events = 0
    /// States that were told again as a whole.
    var resyncs = 0
    /// Watches that were ended by the service.
    var ends = 0
    /// Nanoseconds from a write's answer to its event.
    var delays = Histogram<UInt32>(numberOfSignificantValueDigits: .three)
}
