import Foundation
import GeoBucketClient
import KiiCompatibility
import Testing

/// A clause of a typed field, or of a value of Foundation's types, is the clause that names both.
@Suite struct FieldClauseTests {
    private let count = Field<Int>("n")
    private let name = Field<String>("s")

    private func expect(_ short: Clause, _ long: Clause) {
        #expect(short.json.text == long.json.text)
    }

    @Test func `a comparison of a typed field is the function of its name`() {
        expect(count == 3, .equals("n", value: 3))
        expect(count != 3, .notEquals("n", value: 3))
        expect(count < 3, .lessThan("n", value: 3))
        expect(count <= 3, .lessThanOrEqual("n", value: 3))
        expect(count > 3, .greaterThan("n", value: 3))
        expect(count >= 3, .greaterThanOrEqual("n", value: 3))
        expect(name == "x", .equals("s", value: "x"))
        expect(name <= "x", .lessThanOrEqual("s", value: "x"))
        expect(name > "x", .greaterThan("s", value: "x"))
        expect(count == nil, !.hasField("n") || .hasField("n", andType: .null))
        expect(count != nil, .hasField("n") && !.hasField("n", andType: .null))
    }

    @Test func `a range, a list or a part of a typed field is the function of its name`() {
        expect(count.isIn([1, 2]), .in("n", value: [1, 2]))
        expect(count.isIn(1...2), .range("n", from: 1, through: 2))
        expect(count.isIn(1..<2), .range("n", from: 1, through: 2, upperIncluded: false))
        expect(name.startsWith("x"), .startsWith("s", value: "x"))
        expect(name.contains("x"), .contains("s", value: "x"))
        expect(Field<[Int]>("a").contains(1), .contains("a", value: 1))
    }

    @Test func `a circle around a field of one or several points is the same circle`() {
        let place = GeoPoint(latitude: 1, longitude: 2)
        let circle = Clause.geoDistance("p", center: place, radius: 7, putDistanceInto: "d")
        expect(Field<[GeoPoint]>("p").isWithin(7, of: place, putDistanceInto: "d"), circle)
        expect(Field<GeoPoint>("p").isWithin(7, of: place, putDistanceInto: "d"), circle)
    }

    @Test func `a value of Foundation's types is the value`() {
        let seven: Any = NSNumber(value: 7)
        let moment: Any = NSDate(timeIntervalSince1970: 1.5)
        let text: Any = NSString(string: "x")
        expect(.equals("f", value: seven), .equals("f", value: 7))
        expect(.equals("f", value: NSNull() as Any), .equals("f", value: JSONValue.null))
        expect(.notEquals("f", value: seven), .notEquals("f", value: 7))
        expect(.lessThan("f", value: seven), .lessThan("f", value: 7))
        expect(.lessThanOrEqual("f", value: seven), .lessThanOrEqual("f", value: 7))
        expect(.greaterThan("f", value: moment), .greaterThan("f", value: 1_500))
        expect(.greaterThanOrEqual("f", value: text), .greaterThanOrEqual("f", value: "x"))
        expect(.in("f", value: [seven, NSNull()]), .in("f", value: [.int(7), JSONValue.null]))
    }

    @Test func `Kii's names of field types are the types`() {
        expect(.hasField("f", andType: KiiFieldType.String), .hasField("f", andType: .string))
        expect(.hasField("f", andType: KiiFieldType.Integer), .hasField("f", andType: .integer))
        expect(.hasField("f", andType: KiiFieldType.Boolean), .hasField("f", andType: .boolean))
    }
}
