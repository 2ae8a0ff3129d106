import Foundation
import GeoBucketClient
import TestSupport
import Testing

/// Models that use every container of `Codable`, against Foundation's coders.
@Suite struct ModelContainerTests {
    /// What the compiler writes for it uses containers inside containers.
    private indirect enum Tree: Codable, Equatable {
        case leaf(Int)
        case text(String, isLong: Bool?)
        case list([Tree])
        case named([String: Tree])
        case pair(left: Tree, right: Tree)
        case none

        static func random(_ random: inout SplitMix64, depth: Int) -> Tree {
            func inner() -> Tree { .random(&random, depth: depth - 1) }
            switch random.below(depth > 0 ? 6 : 3) {
            case 0: return .leaf(Int(truncatingIfNeeded: random.next()))
            case 1: return .text(random.pick(["", "é", "\u{0}\"", "🍣"]), isLong: nil)
            case 2: return random.oneIn(2) ? .none : .text("x", isLong: random.oneIn(2))
            case 3: return .list((0..<random.below(4)).map { _ in inner() })
            case 4: return .named(["a": inner(), "7": inner()])
            default: return .pair(left: inner(), right: inner())
            }
        }
    }

    private enum Kind: String, Codable { case cafe, bar }

    private struct Collections: Codable, Equatable {
        var byNumber = [7: Kind.bar, -1: .cafe]
        var byKind = [Kind.bar: Tree.leaf(1)]
        var range = 1...3
        var open = 2..<5
        var set: Set = [Kind.cafe]
        var some: Tree? = Tree.none
        var none: Tree?
        var rows: [[Kind?]] = [[], [.bar, nil]]
    }

    /// Asks for each kind of container by hand.
    private struct Handmade: Codable, Equatable {
        var values = [3, 4]
        var name = "n"
        var flag = true

        private enum Key: String, CodingKey { case inner, list, null, name, flag }

        init() {}

        func encode(to encoder: any Encoder) throws {
            var outer = encoder.container(keyedBy: Key.self)
            try outer.encodeNil(forKey: .null)
            var list = outer.nestedUnkeyedContainer(forKey: .list)
            try list.encode(values[0])
            try list.encodeNil()
            var keyed = list.nestedContainer(keyedBy: Key.self)
            try keyed.encode(name, forKey: .name)
            var unkeyed = list.nestedUnkeyedContainer()
            try unkeyed.encode(values[1])
            #expect(unkeyed.count == 1 && list.count == 4)
            var single = list.superEncoder().singleValueContainer()
            try single.encode(flag)
            var inner = outer.nestedContainer(keyedBy: Key.self, forKey: .inner)
            try inner.encode(flag, forKey: .flag)
            single = outer.superEncoder().singleValueContainer()
            try single.encode(name)
            // The same object once more: what was written stays.
            var again = encoder.container(keyedBy: Key.self)
            try again.encode(flag, forKey: .flag)
        }

        init(from decoder: any Decoder) throws {
            let outer = try decoder.container(keyedBy: Key.self)
            #expect(try outer.decodeNil(forKey: .null))
            #expect(outer.allKeys.count == 4 && outer.contains(.flag) && !outer.contains(.name))
            var list = try outer.nestedUnkeyedContainer(forKey: .list)
            #expect(list.count == 5 && list.currentIndex == 0)
            values = [try list.decode(Int.self)]
            // A null is passed over, anything else is not.
            let nils = [try list.decodeNil(), try list.decodeNil()]
            #expect(nils == [true, false] && list.currentIndex == 2)
            let keyed = try list.nestedContainer(keyedBy: Key.self)
            name = try keyed.decode(String.self, forKey: .name)
            var unkeyed = try list.nestedUnkeyedContainer()
            values.append(try unkeyed.decode(Int.self))
            #expect(unkeyed.isAtEnd)
            flag = try list.superDecoder().singleValueContainer().decode(Bool.self)
            let inner = try outer.nestedContainer(keyedBy: Key.self, forKey: .inner)
            #expect(try inner.decode(Bool.self, forKey: .flag) == flag && list.isAtEnd)
            #expect(try outer.superDecoder().singleValueContainer().decode(String.self) == name)
        }
    }

    /// Both coders write the same JSON, and ours reads what either wrote.
    private static func check(
        _ model: some Codable & Equatable, _ context: String = ""
    ) throws {
        let ours = try ModelEncoder.encode(model)
        let theirs = try JSONValue(parsing: Array(try JSONEncoder().encode(model)))
        #expect(ours.isIdentical(to: theirs), "\(context): \(ours.text), \(theirs.text)")
        for value in [ours, theirs] {
            #expect(try ModelDecoder.decode(from: value) == model, "\(context): \(value.text)")
        }
    }

    @Test(arguments: Seeds.first(5))
    func `random trees of cases with values are as Foundation has them`(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        for _ in 0..<100 { try Self.check(Tree.random(&random, depth: 4), "seed \(seed)") }
    }

    @Test func `collections of all kinds are as Foundation has them`() throws {
        try Self.check(Collections())
        try Self.check([Collections()])
        try Self.check(["x": Collections?.none, "y": Collections()])
    }

    @Test func `every kind of container is as Foundation has it`() throws {
        try Self.check(Handmade())
        try Self.check([[Handmade()]])
    }

    @Test(arguments: [
        ("[1]", "[1]: is missing"), ("[]", "[0]: is missing"),
        (#"[1,{"x":[true]}]"#, "[1].x[0]: expected a number, found a boolean"),
        (#"[1,{"x":[]}]"#, "[1].x[0]: is missing"), (#"[1,{}]"#, "[1].x: is missing"),
        (#"[1,{"x":{}}]"#, "[1].x: expected an array, found an object"),
        (#"[1,null]"#, "[1]: expected an object, found null"),
        (#"{"x":1}"#, "expected an array, found an object"),
    ])
    func `a mismatch inside containers names its key path`(
        _ text: String, _ message: String
    ) throws {
        struct Pair: Decodable {
            enum Key: String, CodingKey { case x }
            init(from decoder: any Decoder) throws {
                var list = try decoder.unkeyedContainer()
                _ = try list.decode(Int.self)
                let inner = try list.nestedContainer(keyedBy: Key.self)
                var numbers = try inner.nestedUnkeyedContainer(forKey: .x)
                _ = try numbers.decode(Int.self)
            }
        }
        let failure = #expect(throws: JSONMismatch.self) {
            try ModelDecoder.decode(Pair.self, from: try JSONValue(parsing: text))
        }
        #expect(failure?.description == message)
    }

    @Test(arguments: [
        (#"{"leaf":{"_0":1},"none":{}}"#, ""), (#"{}"#, ""), (#"{"twig":{}}"#, ""),
        (#"{"leaf":{"_0":"1"}}"#, "leaf._0"), (#"{"leaf":{}}"#, "leaf._0"),
        (#"{"list":{"_0":[{"none":{}},{"leaf":7}]}}"#, "list._0[1].leaf"),
        (
            #"{"pair":{"left":{"none":{}},"right":{"text":{"_0":"x","isLong":1}}}}"#,
            "pair.right.text.isLong"
        ),
    ])
    func `a case that is not whole is refused with its key path`(
        _ text: String, _ path: String
    ) throws {
        let failure = #expect(throws: JSONMismatch.self) {
            try ModelDecoder.decode(Tree.self, from: try JSONValue(parsing: text))
        }
        #expect(failure?.path == path, "\(failure?.message ?? "")")
    }
}
