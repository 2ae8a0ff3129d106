import Geodesy
import Objects

extension Clause {
    /// The operators and fields without the values, in one line, for logs:
    ///
    ///     and(eq(kind), or(prefix(name), geodistance(location)))
    ///
    /// Of many leaves the first ten are named, and how many more there are.
    public var shape: String {
        var writer = ShapeWriter()
        writer.append(self)
        let more = writer.leaves - ShapeWriter.namedLeaves
        return more > 0 ? writer.text + " and \(more) more" : writer.text
    }
}

private struct ShapeWriter {
    static let namedLeaves = 10

    var text = ""
    /// Of those met so far; what has no clause in it is one.
    var leaves = 0

    private var isFull: Bool { leaves >= Self.namedLeaves }

    mutating func append(_ clause: Clause) {
        switch clause {
        case .all: leaf("all")
        case .eq(let field, _): leaf("eq", field)
        case .range(let field, _): leaf("range", field)
        case .prefix(let field, _): leaf("prefix", field)
        case .like(let field, _): leaf("like", field)
        case .isIn(let field, _): leaf("in", field)
        case .hasField(let field, _): leaf("hasField", field)
        case .geo(let clause): leaf(clause.shape.clauseName, clause.field)
        case .contains(let field, _): leaf("contains", field)
        case .and(let clauses): group("and", clauses)
        case .or(let clauses): group("or", clauses)
        case .not(let clause): group("not", [clause])
        }
    }

    private mutating func leaf(_ name: String, _ field: FieldPath? = nil) {
        defer { leaves += 1 }
        guard !isFull else { return }
        text += name
        if let field { text += "(\(shortened(field.text, limit: 100)))" }
    }

    private mutating func group(_ name: String, _ clauses: [Clause]) {
        guard !clauses.isEmpty else { return leaf(name + "()") }
        let isNamed = !isFull
        if isNamed { text += name + "(" }
        for (index, clause) in clauses.enumerated() {
            if index > 0, !isFull { text += ", " }
            append(clause)
        }
        if isNamed { text += ")" }
    }
}

extension GeoShape {
    /// The type of the clause that asks for the shape.
    fileprivate var clauseName: String {
        switch self {
        case .box: "geobox"
        case .polygon: "geopolygon"
        case .circle: "geodistance"
        case .corridor: "geocorridor"
        }
    }
}
