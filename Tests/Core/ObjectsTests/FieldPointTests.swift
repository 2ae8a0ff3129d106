import BackendContract
import JSONText
import Objects
import TestSupport
import Testing

/// The GeoPoints of a document: those that field paths name, and what it costs to find them.
@Suite(.timeLimit(.minutes(2))) struct FieldPointTests {
    private static let point = #"{"_type":"point","lat":1,"lon":2}"#

    private static func fields(_ document: String, atMost limit: Int = .max) throws -> [String] {
        try JSONParser.reading(Array(document.utf8)) {
            FieldPoint.all(in: $0, atMost: limit).map(\.field.text)
        }
    }

    @Test(arguments: [
        (#"{"a":\#(point),"b":{"c":\#(point),"d":[[\#(point)]]}}"#, ["a", "b.c"]),
        // An array is several places; what its elements hold besides is no place.
        (#"{"b":{"d":[\#(point)]},"e":[1,\#(point),{"f":\#(point)},[\#(point)]]}"#, ["b.d", "e"]),
        (#"{"b.d":[\#(point)],"b":{"d":\#(point)}}"#, ["b.d"]),
        (#"{"b.d":[],"b":{"d":\#(point)}}"#, []),
        (#"{"b":{"c":[\#(point)],"c":[]}}"#, []), (#"{"b":{"c.d":[\#(point)]}}"#, []),
        // A first-level name with dots hides what lies deeper, and no path leads to a dotted one there.
        (#"{"b":{"c":\#(point)},"b.c":1}"#, []), (#"{"b.c":\#(point)}"#, ["b.c"]),
        (#"{"b":{"c.d":\#(point)}}"#, []), (#"{"b":{"c":{"d":\#(point)}},"b.c":1}"#, ["b.c.d"]),
        // Of duplicates the last counts, at any depth.
        (#"{"b":{"c":\#(point),"c":1}}"#, []), (#"{"b":{"c":1,"c":\#(point)}}"#, ["b.c"]),
        (#"{"b":{"c":{"d":\#(point)},"c":{"e":\#(point)}}}"#, ["b.c.e"]),
        (#"{"b":{"c":{"d":\#(point),"e":\#(point)},"c":2,"f":\#(point)}}"#, ["b.f"]),
    ])
    func `A point counts where a field path names it`(_ document: String, _ fields: [String])
        throws
    {
        #expect(try Self.fields(document) == fields)
        #expect(try Self.fields(document, atMost: 1) == Array(fields.prefix(1)))
    }

    @Test(arguments: 1...200 as ClosedRange<UInt64>)
    func `A point is found where its path finds it again`(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        func object(_ depth: Int) -> String {
            let members = (0..<1 + random.below(4)).map { _ -> String in
                let name = random.pick(["a", "b", "c", "a.b", "b.c"])
                let place = random.oneIn(3) ? "[0,\(Self.point)]" : Self.point
                let value = random.oneIn(2) || depth == 3 ? place : object(depth + 1)
                return "\"\(name)\":\(value)"
            }
            return "{\(members.joined(separator: ","))}"
        }
        let document = object(0)
        try JSONParser.reading(Array(document.utf8)) { view in
            let found = FieldPoint.all(in: view).map(\.field.text)
            // Every path of the names there are.
            var paths = [""]
            for _ in 0..<4 {
                paths += paths.flatMap { path in
                    ["a", "b", "c"].map { path.isEmpty ? $0 : "\(path).\($0)" }
                }
            }
            let expected = Set(paths).filter { path in
                !path.isEmpty
                    && FieldPath(path).value(in: view).map(GeoPoint.coordinates)?.count == 1
            }
            #expect(Set(found) == expected, "seed \(seed): \(document)")
            #expect(found.count == expected.count, "seed \(seed): \(document)")
        }
    }

    /// So many that to compare each with each would take many minutes.
    private static let many = 50_000

    @Test func `Points that others hide cost no more than others`() throws {
        let members = Array(repeating: "\"p\":\(Self.point)", count: Self.many)
        #expect(try Self.fields("{\"o\":{\(members.joined(separator: ","))}}") == ["o.p"])
        let names = (0..<Self.many).map { "\"p\($0)\":\(Self.point)" }.joined(separator: ",")
        #expect(try Self.fields("{\"o\":{\(names)}}").count == Self.many)
        #expect(try Self.fields("{\"o\":{\(names)}}", atMost: 101).count == 101)
    }

    @Test func `What hidden members have done wrong costs no more than their look`() throws {
        var limits = Limits()
        limits.documentSize = DocumentSize(characters: 1 << 26, bytes: 1 << 26)
        for wrong in ["1e999", #"{"_type":"point"}"#, "[[1e999]]"] {
            let members = Array(repeating: "\"n\":\(wrong)", count: Self.many).joined(
                separator: ",")
            #expect(try Self.outcome("{\"o\":{\(members),\"n\":1}}", limits) == "accepted")
            #expect(
                try Self.outcome("{\"o\":{\"n\":1,\(members)}}", limits).hasPrefix("object.o.n"))
        }
    }

    /// Where a document is at fault, if it is.
    private static func outcome(_ document: String, _ limits: Limits) throws -> String {
        try JSONParser.reading(Array(document.utf8)) { view -> String in
            do throws(ServiceFailure) {
                _ = try WrittenDocument(view, at: "object", limits: limits)
                return "accepted"
            } catch {
                return error.path ?? ""
            }
        }
    }
}
