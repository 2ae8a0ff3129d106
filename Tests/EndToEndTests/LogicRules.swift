import TestSupport
import Testing

/// Three-valued logic: Kleene's tables, De Morgan's laws, and how large a tree may be.
@Suite struct LogicRules {
    /// A clause that has this value on an object with `"f":1`: 1 true, 0 unknown, -1 false.
    static func leaf(_ truth: Int) -> String {
        switch truth {
        case 1: #"{"type":"eq","field":"f","value":1}"#
        case 0: #"{"type":"eq","field":"f","value":"x"}"#
        default: #"{"type":"eq","field":"f","value":2}"#
        }
    }

    static func truths(of value: Int) -> Truths {
        Truths(value == 1 ? ["o1"] : [], no: value == -1 ? ["o1"] : [])
    }

    @Test func `and is the least and or the greatest of its clauses, not swaps true and false`()
        async throws
    {
        try await TestService.with { service in
            try await service.store(["o1": #""f":1"#])
            for a in -1...1 {
                let not = #"{"type":"not","clause":\#(Self.leaf(a))}"#
                #expect(try await service.truths(not) == Self.truths(of: -a))
                for b in -1...1 {
                    for c in -1...1 {
                        let clauses = [a, b, c].map(Self.leaf).joined(separator: ",")
                        let and = #"{"type":"and","clauses":[\#(clauses)]}"#
                        let least = Self.truths(of: min(a, b, c))
                        #expect(try await service.truths(and) == least, "\((a, b, c))")
                        let or = #"{"type":"or","clauses":[\#(clauses)]}"#
                        let greatest = Self.truths(of: max(a, b, c))
                        #expect(try await service.truths(or) == greatest, "\((a, b, c))")
                    }
                }
            }
        }
    }

    @Test func `and and or of one clause are that clause`() async throws {
        try await TestService.with { service async throws in
            try await service.store(["o1": #""f":1"#])
            for value in -1...1 {
                for type in ["and", "or"] {
                    let clause = #"{"type":"\#(type)","clauses":[\#(Self.leaf(value))]}"#
                    #expect(try await service.truths(clause) == Self.truths(of: value))
                }
            }
        }
    }

    @Test
    func `not eq misses objects without the field and of other types, not hasField finds them`()
        async throws
    {
        try await TestService.with { service async throws in
            try await service.store([
                "o1": #""f":1"#, "o2": #""f":2"#, "o3": #""f":"1""#, "o4": #""f":null"#, "o5": "",
            ])
            let notEq = #"{"type":"not","clause":{"type":"eq","field":"f","value":1}}"#
            #expect(try await service.ids(notEq) == ["o2"])
            let notHas = #"{"type":"not","clause":{"type":"hasField","field":"f"}}"#
            #expect(try await service.ids(notHas) == ["o5"])
            let notNull = #"{"type":"not","clause":{"type":"eq","field":"f","value":null}}"#
            #expect(try await service.ids(notNull) == ["o1", "o2", "o3"])
        }
    }

    static let leaves = [
        #"{"type":"all"}"#, #"{"type":"eq","field":"f","value":1}"#,
        #"{"type":"range","field":"f","lowerLimit":"a"}"#,
        #"{"type":"prefix","field":"f","prefix":"a"}"#,
        #"{"type":"in","field":"f","values":[true,0.5,null]}"#,
        #"{"type":"hasField","field":"f","fieldType":"INTEGER"}"#,
        #"{"type":"contains","field":"f","value":"abc"}"#,
        #"{"type":"geodistance","field":"f","center":\#(point(1, 2)),"radius":1}"#,
        #"{"type":"geobox","field":"f","box":{"ne":\#(point(9, 9)),"sw":\#(point(5, 5))}}"#,
    ]

    @Test func `De Morgan's rewriting is always valid`() async throws {
        @Sendable func not(_ clause: String) -> String { #"{"type":"not","clause":\#(clause)}"# }
        @Sendable func tree(_ type: String, _ clauses: [String]) -> String {
            #"{"type":"\#(type)","clauses":[\#(clauses.joined(separator: ","))]}"#
        }
        try await TestService.with { service async throws in
            try await service.store(ClauseRules.objects)
            for (index, a) in Self.leaves.enumerated() {
                for b in Self.leaves[index...] {
                    for (type, dual) in [("and", "or"), ("or", "and")] {
                        let outside = try await service.ids(not(tree(type, [a, b])))
                        let inside = try await service.ids(tree(dual, [not(a), not(b)]))
                        #expect(outside == inside, "\(type) \(a) \(b)")
                    }
                    let double = try await service.ids(not(not(tree("and", [a, b]))))
                    #expect(try await service.ids(tree("and", [a, b])) == double)
                }
            }
        }
    }

    /// `not`s around a leaf, so many levels in all.
    private func nested(levels: Int) -> String {
        String(repeating: #"{"type":"not","clause":"#, count: levels - 1) + #"{"type":"all"}"#
            + String(repeating: "}", count: levels - 1)
    }

    @Test func `Clauses nest 32 levels deep and no deeper`() async throws {
        try await TestService.with { service async throws in
            try await service.store(["o1": ""])
            #expect(try await service.ids(nested(levels: 31)) == ["o1"])
            #expect(try await service.ids(nested(levels: 32)) == [])
            let path = "bucketQuery.clause" + String(repeating: ".clause", count: 32)
            #expect(
                try await service.queryOutcome(nested(levels: 33)) == "INVALID_INPUT_DATA \(path)")
            #expect(
                try await service.queryOutcome(nested(levels: 300)) == "INVALID_INPUT_DATA \(path)")
            let and = #"{"type":"and","clauses":[{"type":"all"},\#(nested(levels: 32))]}"#
            #expect(
                try await service.queryOutcome(and) == "INVALID_INPUT_DATA bucketQuery.clause"
                    + ".clauses[1]" + String(repeating: ".clause", count: 31))
        }
    }

    /// One `and` around leaves, so many nodes in all.
    private func wide(nodes: Int) -> String {
        let leaves = Array(repeating: #"{"type":"all"}"#, count: nodes - 1)
        return #"{"type":"and","clauses":[\#(leaves.joined(separator: ","))]}"#
    }

    @Test func `A query has at most 1,000 clauses, every node counted`() async throws {
        try await TestService.with { service async throws in
            try await service.store(["o1": ""])
            #expect(try await service.ids(wide(nodes: 999)) == ["o1"])
            #expect(try await service.ids(wide(nodes: 1_000)) == ["o1"])
            #expect(
                try await service.queryOutcome(wide(nodes: 1_001))
                    == "INVALID_INPUT_DATA bucketQuery.clause.clauses[999]")
            let two = #"{"type":"or","clauses":[\#(wide(nodes: 500)),\#(wide(nodes: 499))]}"#
            #expect(try await service.ids(two) == ["o1"])
            let more = #"{"type":"or","clauses":[\#(wide(nodes: 500)),\#(wide(nodes: 500))]}"#
            #expect(
                try await service.queryOutcome(more)
                    == "INVALID_INPUT_DATA bucketQuery.clause.clauses[1].clauses[498]")
        }
    }

    @Test func `in has 1 to 200 values`() async throws {
        @Sendable func isIn(_ count: Int) -> String {
            let values = (0..<count).map(String.init).joined(separator: ",")
            return #"{"type":"in","field":"f","values":[\#(values)]}"#
        }
        try await TestService.with { service async throws in
            try await service.store(["o1": #""f":0"#, "o2": #""f":199"#])
            #expect(try await service.ids(isIn(199)) == ["o1"])
            #expect(try await service.ids(isIn(200)) == ["o1", "o2"])
            for count in [0, 201] {
                #expect(
                    try await service.queryOutcome(isIn(count))
                        == "INVALID_INPUT_DATA bucketQuery.clause.values")
            }
        }
    }
}
