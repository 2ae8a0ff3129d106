import Objects
import PlainJSON

/// What MIN, MAX, SUM and AVG need to know about numbers.
public struct NumberSummary: Sendable {
    @usableFromInline
    var count = 0
    @usableFromInline
    var sum = ExactSum()
    /// The least of the numbers that a binary64 represents exactly.
    @usableFromInline
    var low = Double.infinity
    /// The greatest of these numbers.
    @usableFromInline
    var high = -Double.infinity
    /// The least and the greatest of all other numbers.
    private var integers: ClosedRange<JSONNumber>?

    /// A summary of no numbers.
    public init() {}

    /// Adds a finite number some times, at least once.
    @inlinable
    public mutating func add(_ value: Double, times: Int = 1) {
        count += times
        sum.add(value, times: times)
        low = value < low ? value : low
        high = value > high ? value : high
    }

    /// Adds a number some times, at least once.
    public mutating func add(_ number: JSONNumber, times: Int = 1) {
        let (floor, rest) = number.floored
        guard rest > 0 else { return add(floor, times: times) }
        count += times
        sum.add(number, times: times)
        integers =
            integers.map {
                min($0.lowerBound, number)...max($0.upperBound, number)
            } ?? number...number
    }

    /// Appends a result; `null` if there were no numbers.
    ///
    /// - Throws: for a sum that is neither whole nor in the range of binary64.
    public func write(
        _ reduction: Aggregation.Reduction, to writer: inout JSONWriter
    ) throws(ServiceFailure) {
        guard count > 0 else { return writer.raw("null") }
        switch reduction {
        case .minimum: writer.number(least)
        case .maximum: writer.number(greatest)
        case .average: writer.number(JSONNumber.decimal(sum.divided(by: count)).canonical)
        case .sum where sum.isWhole: writer.raw(Array(sum.wholeDigits.utf8))
        case .sum:
            let rounded = sum.rounded
            guard rounded.isFinite else {
                throw ServiceFailure(
                    .queryNotSupported, "the sum is beyond the range of binary64 numbers")
            }
            writer.number(JSONNumber.decimal(rounded).canonical)
        }
    }

    private var least: JSONNumber {
        let others = integers?.lowerBound
        guard low.isFinite else { return others! }
        return min(JSONNumber.decimal(low).canonical, others ?? .decimal(low))
    }

    private var greatest: JSONNumber {
        let others = integers?.upperBound
        guard high.isFinite else { return others! }
        return max(others ?? .decimal(high), JSONNumber.decimal(high).canonical)
    }
}
