extension Clause {
    /// An equivalent clause with `not` only at the leaves, with `and` and `or` flattened, and
    /// without redundant parts: it is true, false and unknown for the same objects.
    ///
    /// De Morgan's laws and the double negation hold in three-valued logic.
    public var normalized: Clause {
        switch self {
        case .and(let clauses): return Self.conjunction(clauses.map(\.normalized))
        case .or(let clauses): return Self.disjunction(clauses.map(\.normalized))
        case .not(let clause): return clause.negated
        case .like(let field, let pattern): return pattern.clause(of: field)
        default: return self
        }
    }

    /// The normalized negation.
    private var negated: Clause {
        switch self {
        case .and(let clauses): return Self.disjunction(clauses.map(\.negated))
        case .or(let clauses): return Self.conjunction(clauses.map(\.negated))
        case .not(let clause): return clause.normalized
        case .like: return .not(normalized)
        default: return .not(self)
        }
    }

    private static func conjunction(_ clauses: [Clause]) -> Clause {
        var parts: [Clause] = []
        for clause in clauses {
            switch clause {
            case .all: break
            case .and(let inner): parts += inner
            default: parts.append(clause)
            }
        }
        return parts.isEmpty ? .all : (parts.count == 1 ? parts[0] : .and(parts))
    }

    private static func disjunction(_ clauses: [Clause]) -> Clause {
        var parts: [Clause] = []
        for clause in clauses {
            switch clause {
            case .all: return .all
            case .or(let inner): parts += inner
            default: parts.append(clause)
            }
        }
        return parts.count == 1 ? parts[0] : .or(parts)
    }
}

extension LiteralRange {
    /// Whether no value can lie within.
    public var isEmpty: Bool {
        switch self {
        case .numbers(let lower?, let upper?):
            return lower.value > upper.value
                || lower.value == upper.value && !(lower.included && upper.included)
        case .strings(let lower?, let upper?):
            return upper.value.lexicographicallyPrecedes(lower.value)
                || lower.value == upper.value && !(lower.included && upper.included)
        default: return false
        }
    }
}
