import Geodesy
import JSONText
import Objects
import QueryLanguage
import Testing

/// Why a query finds nothing, from a survey of a bucket's fields.
@Suite struct HintSearchTests {
    private static let documents = [
        #"{"_id":"a","kind":"x","rating":"good","n":1,"open":true,"tags":["t"],"address":{"city":"Oslo"},"position":{"_type":"point","lat":1,"lon":2}}"#,
        #"{"_id":"b","kind":"y","n":2.5,"void":null}"#,
    ]

    private static func hints(
        _ clause: Clause, order: [OrderKey] = [], isOfAll: Bool = true,
        documents: [String] = documents
    ) throws -> [String] {
        var survey = FieldSurvey()
        for document in documents {
            try JSONParser.reading(Array(document.utf8)) { survey.add($0) }
        }
        let place = FieldPath("position")
        let search = HintSearch(
            survey, isOfAll: isOfAll, sampled: documents.count, geoFields: [place], place: place)
        return search.hints(for: Query(clause: clause, order: order)).map {
            "\($0.code.rawValue) \($0.message)"
        }
    }

    private static func eq(_ field: String, _ value: Literal) -> Clause {
        .eq(FieldPath(field), value)
    }

    private static func near(_ field: String) -> Clause {
        let circle = GeoCircle(Coordinate(latitude: 1, longitude: 2), radiusMeters: 100)
        return .geo(GeoClause(FieldPath(field), .circle(circle)))
    }

    @Test func `A field that no object has is told with the nearest one`() throws {
        #expect(
            try Self.hints(Self.eq("knid", .string("x"))) == [
                "NO_SUCH_FIELD no object has the field \"knid\"; the nearest is \"kind\""
            ])
        #expect(
            try Self.hints(Self.eq("address.cty", .null)) == [
                "NO_SUCH_FIELD no object has the field \"address.cty\"; the nearest is \"address.city\""
            ])
        #expect(
            try Self.hints(Self.eq("harbour", .null), isOfAll: false) == [
                "NO_SUCH_FIELD none of 2 objects looked at has the field \"harbour\""
            ])
    }

    @Test(
        arguments: [
            (
                eq("rating", .number(.integer(4))),
                "\"rating\" holds texts, and is compared with numbers"
            ),
            (eq("n", .string("1")), "\"n\" holds numbers, and is compared with texts"),
            (eq("kind", .bool(true)), "\"kind\" holds texts, and is compared with booleans"),
            (
                eq("kind", .point(Coordinate(latitude: 0, longitude: 0))),
                "\"kind\" holds texts, and is compared with GeoPoints"
            ),
            (
                .prefix(FieldPath("n"), Array("1".utf8)),
                "\"n\" holds numbers, and is compared with texts"
            ),
            (
                .isIn(FieldPath("open"), [.string("a"), .number(.integer(1))]),
                "\"open\" holds booleans, and is compared with texts or numbers"
            ),
            (
                .range(FieldPath("kind"), .numbers(lower: .init(.integer(1)), upper: nil)),
                "\"kind\" holds texts, and is compared with numbers"
            ),
            (
                .contains(FieldPath("kind"), .number(.integer(1))),
                "\"kind\" holds texts, and is compared with arrays"
            ),
            (.hasField(FieldPath("n"), .array), "\"n\" holds numbers, and is compared with arrays"),
            (.not(eq("n", .string("1"))), "\"n\" holds numbers, and is compared with texts"),
            (
                eq("void", .number(.integer(1))),
                "\"void\" holds nulls, and is compared with numbers"
            ),
        ] as [(Clause, String)])
    func `A field that is compared with what it never holds is told`(
        _ clause: Clause, _ message: String
    ) throws {
        #expect(try Self.hints(clause) == ["OTHER_TYPES the field " + message])
    }

    @Test func `A place that nothing has is told with one that something has`() throws {
        #expect(
            try Self.hints(Self.near("location")) == [
                "NO_PLACE no object has a GeoPoint at \"location\"; there are some at \"position\""
            ])
        #expect(try Self.hints(Self.near("position")) == [])
    }

    @Test(
        arguments: [
            eq("kind", .string("z")), eq("n", .number(.integer(9))), eq("n", .null),
            eq("_version", .number(.integer(9))), eq("_id", .number(.integer(9))), .all,
            .not(.hasField(FieldPath("gone"), nil)), .contains(FieldPath("tags"), .string("u")),
            .isIn(FieldPath("n"), [.null, .string("a")]), .hasField(FieldPath("n"), .integer),
            .or([eq("gone", .null), eq("kind", .string("z"))]), .or([]),
            .not(.and([eq("gone", .null)])), .and([]),
        ] as [Clause])
    func `What may be true of some object is no reason`(_ clause: Clause) throws {
        #expect(try Self.hints(clause) == [])
    }

    @Test func `One reason is enough for all parts, and each branch needs its own`() throws {
        let both = Clause.and([Self.eq("kind", .string("z")), Self.eq("gone", .null)])
        #expect(try Self.hints(both).count == 1)
        let either = Clause.or([Self.eq("gone", .null), Self.near("location"), both])
        #expect(
            try Self.hints(either).map { $0.prefix { $0 != " " } } == ["NO_SUCH_FIELD", "NO_PLACE"])
        let many = Clause.and((0..<20).map { Self.eq("gone\($0)", .null) })
        #expect(try Self.hints(many).count == 8)
    }

    @Test func `An order by what is nowhere is told besides`() throws {
        let order = [OrderKey(.field(FieldPath("raiting"))), OrderKey(.field(FieldPath("_id")))]
        #expect(
            try Self.hints(Self.eq("kind", .string("z")), order: order) == [
                "NO_SUCH_FIELD no object has the field \"raiting\", which is in the order; the nearest is \"rating\""
            ])
    }

    @Test func `Where not every path is listed, none is said to be missing`() throws {
        let wide = (0...FieldSurvey.pathLimit).map { "\"f\($0)\":1" }.joined(separator: ",")
        #expect(try Self.hints(Self.eq("gone", .null), documents: ["{\(wide)}"]) == [])
    }

    @Test func `Hints are written as many as fit`() {
        let hints = ["a", "b"].map { QueryHint.noBucket($0, nearest: "c") }
        var writer = JSONWriter()
        QueryHint.write(hints, maximumBytes: 1_000, to: &writer)
        let one =
            #"{"code":"NO_SUCH_BUCKET","message":"there is no bucket \"a\"; the nearest is \"c\"","nearest":"c"}"#
        let both = "[\(one),\(one.replacing("\\\"a", with: "\\\"b"))]"
        #expect(String(decoding: writer.bytes, as: UTF8.self) == both)
        writer = JSONWriter()
        QueryHint.write(hints, maximumBytes: both.utf8.count - 1, to: &writer)
        #expect(String(decoding: writer.bytes, as: UTF8.self) == "[\(one)]")
        writer = JSONWriter()
        QueryHint.write(hints, maximumBytes: -5, to: &writer)
        #expect(String(decoding: writer.bytes, as: UTF8.self) == "[]")
    }
}
