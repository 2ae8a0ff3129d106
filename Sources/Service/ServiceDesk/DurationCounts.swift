import JSONText
import Synchronization

/// How many requests took how long, in steps of at most a half: 1, 2, 3, 4, 6, 8, 12 microseconds
/// and so on, up to hours.
final class DurationCounts: Sendable {
    private final class Count: Sendable { let value = Atomic(0) }

    private let total = Atomic<Int64>(0)
    private let counts = (0..<steps).map { _ in Count() }

    private static let steps = 72

    func count(nanoseconds: Int64) {
        let microseconds = max(nanoseconds, 0) / 1_000
        total.add(microseconds, ordering: .relaxed)
        counts[Self.step(of: microseconds)].value.add(1, ordering: .relaxed)
    }

    /// The first step whose end is not below a time.
    static func step(of microseconds: Int64) -> Int {
        guard microseconds > 1 else { return 0 }
        let below = UInt64(microseconds - 1)
        let power = 63 - below.leadingZeroBitCount
        let half = power > 0 ? Int(below >> (power - 1)) & 1 : 0
        return min(2 * power + half + (power > 0 ? 0 : 1), steps - 1)
    }

    /// The longest time that counts as a step, in microseconds.
    static func end(of step: Int) -> Int64 {
        guard step > 1 else { return Int64(step) + 1 }
        let (power, half) = step.quotientAndRemainder(dividingBy: 2)
        return half == 0 ? 3 << Int64(power - 1) : 2 << Int64(power)
    }

    /// Appends members: the microseconds together, and the steps that occur with their ends.
    func write(to writer: inout JSONWriter) {
        writer.key("microseconds")
        writer.integer(total.load(ordering: .relaxed))
        writer.raw(",\"durations\":[")
        let found = counts.enumerated().map { ($0, $1.value.load(ordering: .relaxed)) }
        writer.list(found.filter { $0.1 > 0 }) { step, writer in
            writer.byte(UInt8(ascii: "["))
            writer.integer(Self.end(of: step.0))
            writer.byte(UInt8(ascii: ","))
            writer.integer(step.1)
            writer.byte(UInt8(ascii: "]"))
        }
        writer.byte(UInt8(ascii: "]"))
    }
}
