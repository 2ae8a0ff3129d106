import JSONText
import Objects
import QueryLanguage
import TestSupport
import Testing

/// One fault anywhere in a clause is refused, and the path of the refusal leads to it.
@Suite struct ClauseFaultTests {
    /// A clause of a tree, and the path of its place in the request.
    private struct Node {
        let whole: JSONValue
        let clause: JSONValue
        let path: String

        /// The path of the refusal when another value stands in the clause's place; nil if the tree
        /// is accepted.
        func refusal(of other: JSONValue) throws -> String? {
            try ClauseFaultTests.refusal(
                ClauseFaultTests.tree(whole, with: other, at: path))
        }
    }

    /// Every clause of a tree, the outermost first.
    private static func nodes(
        _ clause: JSONValue, at path: String = "bucketQuery.clause", of whole: JSONValue
    ) -> [Node] {
        var nodes = [Node(whole: whole, clause: clause, path: path)]
        if let inner = clause["clause"] {
            nodes += Self.nodes(inner, at: path + ".clause", of: whole)
        }
        for (index, inner) in (clause["clauses"]?.array ?? []).enumerated() {
            nodes += Self.nodes(inner, at: path + ".clauses[\(index)]", of: whole)
        }
        return nodes
    }

    /// The tree with another value at the place of a clause.
    private static func tree(
        _ clause: JSONValue, from path: String = "bucketQuery.clause", with other: JSONValue,
        at target: String
    ) -> JSONValue {
        if path == target { return other }
        return .object(
            clause.members.map { member in
                switch member.name {
                case "clause":
                    .init(
                        "clause",
                        tree(member.value, from: path + ".clause", with: other, at: target))
                case "clauses":
                    .init(
                        "clauses",
                        .array(
                            zip(0..., member.value.array!).map { index, inner in
                                tree(
                                    inner, from: path + ".clauses[\(index)]", with: other,
                                    at: target)
                            }))
                default: member
                }
            })
    }

    /// The path of the refusal; nil if the clause is accepted.
    private static func refusal(_ clause: JSONValue) throws -> String? {
        let query = #"{"bucketQuery":{"clause":\#(clause.text)}}"#
        return try JSONParser.reading(Array(query.utf8)) { view in
            var reader = MemberReader(params: view)
            do throws(ServiceFailure) {
                _ = try QueryParser(limits: Limits()).query(from: &reader)
                return nil
            } catch {
                #expect(error.reason == .invalidInputData && !error.message.isEmpty)
                return error.path ?? ""
            }
        }
    }

    /// The clauses of some random trees.
    private static func nodes(_ seed: UInt64) throws -> [Node] {
        var random = SplitMix64(seed: seed)
        let objects = ObjectGenerator(&random)
        var nodes: [Node] = []
        for _ in 0..<25 {
            var generator = ClauseGenerator(objects: objects, bucket: OracleBucket())
            let whole = generator.clause(depth: 4, &random)
            #expect(try refusal(whole) == nil, "seed \(seed), \(whole.text)")
            nodes += Self.nodes(whole, of: whole)
        }
        return nodes
    }

    private static let seeds = Seeds.first(4)

    @Test(arguments: seeds)
    func `what is no clause is refused where it stands`(seed: UInt64) throws {
        for node in try Self.nodes(seed) {
            for other in [.null, .int(7), .string("all"), .array([node.clause]), .bool(true)]
                as [JSONValue]
            {
                #expect(try node.refusal(of: other) == node.path, "seed \(seed), \(other.text)")
            }
            #expect(try node.refusal(of: .object([])) == node.path + ".type")
        }
    }

    @Test(arguments: seeds)
    func `an unknown type, or one spelled otherwise, is refused`(seed: UInt64) throws {
        for node in try Self.nodes(seed) {
            let type = try #require(node.clause["type"]?.string)
            for other in [
                .string(type.uppercased()), .string(type + " "), .string(""),
                .string(type + "\u{0}"),
                .int(1), .null, .array([.string(type)]),
            ] as [JSONValue] {
                let members = node.clause.members.map { member in
                    JSONValue.Member(member.name, member.name == "type" ? other : member.value)
                }
                #expect(
                    try node.refusal(of: .object(members)) == node.path + ".type",
                    "seed \(seed), \(other.text)")
            }
        }
    }

    @Test(arguments: seeds)
    func `an unknown member is refused by name, first or last`(seed: UInt64) throws {
        for node in try Self.nodes(seed) {
            for name in ["zzz", "Field", "TYPE", "_id", "clauses "] {
                let more = [JSONValue.Member(name, .int(1))]
                for members in [more + node.clause.members, node.clause.members + more] {
                    #expect(
                        try node.refusal(of: .object(members)) == "\(node.path).\(name)",
                        "seed \(seed), \(JSONValue.object(members).text)")
                }
            }
        }
    }

    /// Section 3 of the query language: what a clause of each type may lack.
    private static let optional: Set = [
        "radius", "model", "putDistanceInto", "putAlongInto", "fieldType", "lowerIncluded",
        "upperIncluded", "ignoreCase",
    ]

    @Test(arguments: seeds)
    func `a member that is missing is refused by name, unless it is optional`(
        seed: UInt64
    ) throws {
        for node in try Self.nodes(seed) {
            for name in node.clause.names {
                let rest = node.clause.members.filter { $0.name != name }
                let limits = rest.count { ["lowerLimit", "upperLimit"].contains($0.name) }
                var expected: String? = Self.optional.contains(name) ? nil : "\(node.path).\(name)"
                if name.hasSuffix("Limit") { expected = limits == 0 ? node.path : nil }
                #expect(
                    try node.refusal(of: .object(rest)) == expected,
                    "seed \(seed), \(JSONValue.object(rest).text)")
            }
        }
    }

    @Test(arguments: seeds)
    func `null is the value of no member but value`(seed: UInt64) throws {
        for node in try Self.nodes(seed) {
            for name in node.clause.names where name != "value" {
                let members = node.clause.members.map {
                    JSONValue.Member($0.name, $0.name == name ? .null : $0.value)
                }
                #expect(
                    try node.refusal(of: .object(members)) == "\(node.path).\(name)",
                    "seed \(seed), \(JSONValue.object(members).text)")
            }
        }
    }
}
