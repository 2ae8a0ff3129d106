/// What an operator says of the field before it.
enum TextOperator: Hashable, Sendable {
    /// The value behind it, and any other one.
    case equal, unequal
    /// A value on one side of the one behind it: `<`, `<=`, `>` and `>=`.
    case limit(isLower: Bool, isIncluded: Bool)
    case prefix, contains, membership, like, between
    /// The field is missing or null, and it is there.
    case null, presence

    /// Whether a value and a field may stand on either side of it.
    var isComparison: Bool {
        switch self {
        case .equal, .unequal, .limit: true
        default: false
        }
    }

    /// Whether `not` may stand before it.
    var isNegatable: Bool { [.like, .between, .membership].contains(self) }

    /// Whether it may stand behind a field that is read without regard to case.
    var ignoresCase: Bool { [.equal, .unequal, .like, .membership].contains(self) }

    /// What says the same when its sides have changed places.
    var mirrored: TextOperator {
        guard case .limit(let isLower, let isIncluded) = self else { return self }
        return .limit(isLower: !isLower, isIncluded: isIncluded)
    }
}
