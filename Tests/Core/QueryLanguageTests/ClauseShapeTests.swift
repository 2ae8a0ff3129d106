import Geodesy
import Objects
import QueryLanguage
import Testing

/// What logs tell of a clause: its operators and fields, and nothing of what it looks for.
@Suite struct ClauseShapeTests {
    @Test func `A shape has operators and fields in the order of the clause`() {
        let name = FieldPath("name")
        let box = GeoBox(south: 51.25, west: 7.75, north: 52.25, east: 8.75)
        let clause = Clause.and([
            .eq(name, .string("secret")), .or([.prefix(name, [0x73]), .all]),
            .not(.hasField(FieldPath("a.b"), nil)), .and([]),
            .geo(GeoClause(FieldPath("location"), .box(box))),
        ])
        #expect(
            clause.shape
                == "and(eq(name), or(prefix(name), all), not(hasField(a.b)), and(), geobox(location))"
        )
    }

    @Test(arguments: [1, 9, 10, 11, 900])
    func `A shape names ten leaves, and how many more there are`(_ count: Int) {
        let leaves = (0..<count).map { Clause.hasField(FieldPath("f\($0)"), nil) }
        let named = (0..<min(count, 10)).map { "hasField(f\($0))" }.joined(separator: ", ")
        let more = count > 10 ? " and \(count - 10) more" : ""
        #expect(Clause.or(leaves).shape == "or(\(named))" + more)
        let nested = Clause.and([.or(leaves), .not(.or(leaves))]).shape
        let all = 2 * count
        #expect(nested.hasSuffix(" and \(all - 10) more") == (all > 10), "\(nested)")
        #expect(nested.utf8.count < 400)
        #expect(nested.count { $0 == "(" } == nested.count { $0 == ")" })
    }
}
