import Objects
import Testing

/// The name that a mistyped one resembles.
@Suite struct NearestNameTests {
    private static let known = ["airports", "ports", "query", "count", "--bucket", "n"]

    @Test(arguments: [
        ("aiports", "airports"), ("qurey", "query"), ("QUERY", "query"), ("quer", "query"),
        ("airprots", "airports"), ("--bukcet", "--bucket"), ("porst", "ports"),
    ])
    func `A letter too few, too many, wrong, or in its neighbour's place`(
        _ name: String, _ nearest: String
    ) {
        #expect(nearestName(to: name, among: Self.known) == nearest)
    }

    @Test(arguments: ["", "harbour", "x", "air", String(repeating: "a", count: 65)])
    func `What resembles nothing has no nearest name`(_ name: String) {
        #expect(nearestName(to: name, among: Self.known) == nil)
    }

    @Test func `A third of the letters is the limit, and the first of equals wins`() {
        #expect(nearestName(to: "abcdef", among: ["abcdxy"]) == "abcdxy")
        #expect(nearestName(to: "abcdef", among: ["abcxyz"]) == nil)
        #expect(nearestName(to: "abc", among: ["abd", "abb"]) == "abb")
        #expect(nearestName(to: "abc", among: ["abc"]) == nil)
    }
}
