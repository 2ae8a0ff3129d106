import JSONText

/// An object as the oracle keeps it.
public struct OracleObject: Sendable {
    public var id: String
    /// The client's own members.
    public var document: JSONValue
    /// The minified text that has to come back; nil after a patch, whose spelling is free.
    public var text: String?
    public var created: Int
    public var modified: Int
    public var version: Int

    /// The object as clients read it.
    public var whole: JSONValue {
        var members: [JSONValue.Member] = [
            .init("_id", .string(id)), .init("_created", .int(created)),
            .init("_modified", .int(modified)), .init("_version", .int(version)),
        ]
        if case .object(let own) = document { members += own }
        return .object(members)
    }
}

/// A bucket as a plain list in the order of creation, and what every query has to answer on it.
public struct OracleBucket: Sendable {
    public private(set) var objects: [OracleObject] = []

    public init() {}

    public func object(_ id: String) -> OracleObject? { objects.first { $0.id == id } }

    public mutating func put(_ id: String, _ document: JSONValue, text: String?, now: Int) {
        if let index = objects.firstIndex(where: { $0.id == id }) {
            objects[index].document = document
            objects[index].text = text
            objects[index].version += 1
            objects[index].modified = max(now, objects[index].modified)
        } else {
            objects.append(
                OracleObject(
                    id: id, document: document, text: text, created: now, modified: now,
                    version: 1))
        }
    }

    public mutating func patch(_ id: String, _ patch: JSONValue, now: Int) {
        put(id, object(id)!.document.merged(with: patch), text: nil, now: now)
    }

    public mutating func delete(_ ids: Set<String>) { objects.removeAll { ids.contains($0.id) } }

    public mutating func deleteAll() { objects = [] }

    /// The objects for which a clause is true, in the order of creation.
    public func matches(_ clause: JSONValue) -> [OracleObject] {
        objects.filter { OracleClause.evaluate(clause, on: $0.whole) == true }
    }
}

/// One result as the oracle expects it.
public struct OracleResult: Sendable {
    public var object: OracleObject
    /// The members that come back, `_calculated` left out.
    public var members: JSONValue
    /// Micrometres by the name of the distance.
    public var distances: [String: Int64]
}

/// A query: the members of its document that the oracle looks at.
public struct OracleQuery: Sendable {
    public var clause: JSONValue?
    /// Field paths or `_calculated.<name>`, first the one that counts most.
    public var order: [(field: String, descending: Bool)]
    public var fields: [String]?

    public init(
        clause: JSONValue?, order: [(field: String, descending: Bool)] = [],
        fields: [String]? = nil
    ) {
        self.clause = clause
        self.order = order
        self.fields = fields
    }
}

extension OracleBucket {
    /// Every result of a query, in order.
    public func results(_ query: OracleQuery) -> [OracleResult] {
        let clause = query.clause ?? .object(["type": .string("all")])
        let reporting = OracleClause.reportingClauses(clause)
        let unordered = matches(clause).map { object in
            let whole = object.whole
            var distances: [String: Int64] = [:]
            for clause in reporting {
                let value = whole.field(clause["field"]!.string!)
                distances.merge(OracleClause.reports(clause, value)) { $1 }
            }
            return OracleResult(
                object: object, members: Self.project(whole, query.fields), distances: distances)
        }
        // Insertion keeps ties in the order of creation.
        var ordered: [OracleResult] = []
        for result in unordered {
            let position =
                ordered.firstIndex { Self.compare(result, $0, query.order) < 0 } ?? ordered.endIndex
            ordered.insert(result, at: position)
        }
        return ordered
    }

    static func project(_ whole: JSONValue, _ fields: [String]?) -> JSONValue {
        guard let fields, case .object(let members) = whole else { return whole }
        return .object(
            members.filter { member in
                member.name == "_id" || fields.contains { $0.utf8.elementsEqual(member.name.utf8) }
            })
    }

    private static func compare(
        _ a: OracleResult, _ b: OracleResult, _ order: [(field: String, descending: Bool)]
    ) -> Int {
        for (field, descending) in order {
            let result = OracleOrder.compare(
                value(field, a), value(field, b), descending: descending)
            if result != 0 { return result }
        }
        return 0
    }

    private static func value(_ field: String, _ result: OracleResult) -> JSONValue? {
        let prefix = "_calculated."
        guard field.hasPrefix(prefix) else { return result.object.whole.field(field) }
        return result.distances[String(field.dropFirst(prefix.count))].map { .int(Int($0)) }
    }
}
