import JSONText
import TestSupport

/// A query as the model answers it. Each object is looked at once, whatever states it is in.
final class CombinedQuery {
    let clause: JSONValue
    /// Field paths or `_calculated.d`, the one that counts most first.
    let order: [(field: String, descending: Bool)]
    private let distance: JSONValue?
    private var rows: [ObjectIdentifier: (object: ModelObject, row: Row?)] = [:]

    struct Row {
        let object: ModelObject
        let keys: [JSONValue?]
        /// Micrometres.
        let distance: Int64?
    }

    /// - Parameter distance: the `geodistance` of the clause that puts its distance into `d`.
    init(
        _ clause: JSONValue, order: [(field: String, descending: Bool)] = [],
        distance: JSONValue? = nil
    ) {
        self.clause = clause
        self.order = order
        self.distance = distance
    }

    /// The member `bucketQuery` of a request.
    var text: String {
        var members: [JSONValue.Member] = [.init("clause", clause)]
        if !order.isEmpty {
            let keys = order.map {
                JSONValue.object(["field": .string($0.field), "descending": .bool($0.descending)])
            }
            members.append(.init("orderBy", .array(keys)))
        }
        return JSONValue.object(members).text
    }

    func count(_ objects: [ModelObject]) -> Int { objects.count { row(of: $0) != nil } }

    /// The objects that the clause selects, in the order of creation.
    func selected(_ objects: [ModelObject]) -> [JSONValue] {
        objects.filter { row(of: $0) != nil }.map(\.whole)
    }

    /// The results behind a row, in order.
    func results(_ objects: [ModelObject], after last: Row?) -> [Row] {
        objects.compactMap(row)
            .filter { row in last.map { precedes($0, row) } ?? true }
            .sorted(by: precedes)
    }

    private func row(of object: ModelObject) -> Row? {
        if let known = rows[ObjectIdentifier(object)] { return known.row }
        let row = makeRow(object)
        rows[ObjectIdentifier(object)] = (object, row)
        return row
    }

    private func makeRow(_ object: ModelObject) -> Row? {
        guard OracleClause.evaluate(clause, on: object.whole) == true else { return nil }
        let micrometers = distance.flatMap {
            OracleClause.distance($0, object.whole.field($0["field"]!.string!))
        }
        let keys = order.map { key in
            key.field == "_calculated.d"
                ? micrometers.map { JSONValue.int(Int($0)) } : object.whole.field(key.field)
        }
        return Row(object: object, keys: keys, distance: micrometers)
    }

    /// Whether a row comes before another: by the keys, then by creation.
    private func precedes(_ a: Row, _ b: Row) -> Bool {
        for (position, key) in order.enumerated() {
            let order = OracleOrder.compare(
                a.keys[position], b.keys[position], descending: key.descending)
            if order != 0 { return order < 0 }
        }
        return a.object.number < b.object.number
    }
}

extension CombinedQuery.Row {
    /// Whether a result is this row: the object as it is, and its distance.
    func isAnswered(by result: (value: JSONValue, text: [UInt8])) -> Bool {
        guard let distance else { return object.isAnswered(by: result) }
        let members = result.value.members.filter { $0.name != "_calculated" }
        guard JSONValue.object(members).isIdentical(to: object.whole),
            let calculated = result.value["_calculated"], calculated.names == ["d"],
            let meters = calculated["d"]?.double
        else { return false }
        return Int64((meters * 1e6).rounded()) == distance
    }
}

extension ModelObject {
    func isAnswered(by result: (value: JSONValue, text: [UInt8])) -> Bool {
        // The spelling of what was patched is free.
        result.text == text || result.value.isIdentical(to: whole)
    }
}
