import Objects
import PlainJSON

/// What a field is compared with.
enum ComparedValue {
    case literal(Literal)
    /// A time beside a field that holds milliseconds.
    case time(TimeSpan)
    /// A time beside a field that may hold times as text.
    case timeText(TimeSpan)

    func equality(_ field: FieldPath) -> Clause {
        switch self {
        case .literal(let literal): .eq(field, literal)
        case .time(let time): .range(field, time.range)
        case .timeText(let time): TimeText.clause(field, from: time, to: time)
        }
    }

    /// Values of the field from this one on, or up to it; nil if it has no order.
    func limit(_ field: FieldPath, _ isLower: Bool, _ isIncluded: Bool) -> Clause? {
        func range<Value>(
            _ value: Value,
            _ range: (LiteralRange.Limit<Value>?, LiteralRange.Limit<Value>?) -> LiteralRange
        ) -> Clause {
            let limit = LiteralRange.Limit(value, included: isIncluded)
            return .range(field, isLower ? range(limit, nil) : range(nil, limit))
        }
        switch self {
        case .literal(.number(let number)): return range(number, LiteralRange.numbers)
        case .literal(.string(let utf8)): return range(utf8, LiteralRange.strings)
        case .literal: return nil
        case .time(let time):
            // Behind a day is behind its last millisecond.
            let end = isLower == isIncluded ? time.first : time.last
            return range(.integer(end), LiteralRange.numbers)
        case .timeText(let time):
            let start = isLower == isIncluded ? time.first : time.last + 1
            let from = TimeText.clause(field, from: start)
            return isLower ? from : .not(from)
        }
    }

    /// Between this and another, both included; nil if they are of different kinds or have no order.
    func clause(_ field: FieldPath, to upper: ComparedValue) -> Clause? {
        switch (self, upper) {
        case (.literal(.number(let a)), .literal(.number(let b))):
            .range(field, .numbers(lower: .init(a), upper: .init(b)))
        case (.literal(.string(let a)), .literal(.string(let b))):
            .range(field, .strings(lower: .init(a), upper: .init(b)))
        case (.time(let a), .time(let b)):
            .range(
                field,
                .numbers(lower: .init(.integer(a.first)), upper: .init(.integer(b.last))))
        case (.timeText(let a), .timeText(let b)): TimeText.clause(field, from: a, to: b)
        default: nil
        }
    }
}
