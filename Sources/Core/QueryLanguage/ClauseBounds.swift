import Geodesy
import Objects

/// The bounds that the parser holds, for clauses that were made in another way.
extension Clause {
    /// Refuses a clause that is larger, deeper or about other things than a document may be.
    ///
    /// - Throws: `INVALID_INPUT_DATA`.
    public func checkBounds(_ limits: Limits) throws(ServiceFailure) {
        var size = ClauseSize(limits: limits)
        try size.add(self, depth: 1)
    }

    /// Whether planning it would take too long for a thread that others wait for. O(clauses).
    public var isLarge: Bool {
        var values = 0
        func isLarge(with clause: Clause) -> Bool {
            values += 7
            switch clause {
            case .and(let clauses), .or(let clauses):
                if clauses.contains(where: isLarge) { return true }
            case .not(let clause): if isLarge(with: clause) { return true }
            case .isIn(_, let literals): values += literals.count
            case .geo(let geo): values += 3 * geo.shape.positionCount
            default: break
            }
            return values > Self.fewValues
        }
        return isLarge(with: self)
    }

    /// The limit on values of its document. A clause has seven or more and costs some microseconds; a
    /// position of a polygon or a line has three and costs less than one.
    private static let fewValues = 512
}

extension GeoShape {
    fileprivate var positionCount: Int {
        switch self {
        case .polygon(let polygon): polygon.positionCount
        case .corridor(let corridor): corridor.line.positions.count
        case .box, .circle: 0
        }
    }
}

private struct ClauseSize {
    let limits: Limits
    private var clauses = 0

    init(limits: Limits) { self.limits = limits }

    mutating func add(_ clause: Clause, depth: Int) throws(ServiceFailure) {
        clauses += 1
        guard clauses <= limits.clauses else { throw .tooManyClauses(limits) }
        guard depth <= limits.clauseDepth else { throw .clausesTooDeep(limits) }
        switch clause {
        case .and(let inner), .or(let inner):
            for clause in inner { try add(clause, depth: depth + 1) }
        case .not(let inner): try add(inner, depth: depth + 1)
        default: if clause.fields.contains(where: \.isCalculated) { throw .calculatedInClause }
        }
    }
}

extension ServiceFailure {
    static func tooManyClauses(_ limits: Limits) -> ServiceFailure {
        ServiceFailure(.invalidInputData, "more than \(limits.clauses) clauses in one query")
    }

    static func clausesTooDeep(_ limits: Limits) -> ServiceFailure {
        ServiceFailure(
            .invalidInputData, "clauses nested deeper than \(limits.clauseDepth) levels")
    }

    static let calculatedInClause = ServiceFailure(
        .invalidInputData, "_calculated may stand in \"orderBy\" only, not in a clause")
}

extension FieldPath {
    /// Whether it is about what clauses report, which no object has.
    var isCalculated: Bool {
        utf8.starts(with: "_calculated.".utf8) || utf8.elementsEqual("_calculated".utf8)
    }
}
