import Foundation
import GeoBucketClient
import KiiCompatibility
import TestSupport
import Testing

/// Values through Foundation's types and back, and objects' fields without a service.
@Suite struct FoundationRoundTripTests {
    private static func random(_ random: inout SplitMix64, depth: Int) -> JSONValue {
        switch random.below(depth > 0 ? 8 : 6) {
        case 0: return random.pick([.null, .bool(true), .bool(false)])
        case 1: return .number(.integer(Int64(random.below(5)) - 2))
        case 2: return .number(.integer(Int64(bitPattern: random.next())))
        case 3: return .number(.unsigned(random.next() | 1 << 63))
        case 4:
            let double = Double(bitPattern: random.next())
            return .double(double.isFinite ? double : 0)
        case 5: return .string(random.pick(["", "1", "true", "é", "e\u{301}", "\u{0}", "🍣"]))
        case 6:
            return .array((0..<random.below(4)).map { _ in Self.random(&random, depth: depth - 1) })
        default:
            return .object(
                (0..<random.below(4)).map { number in
                    .init("m\(number)", Self.random(&random, depth: depth - 1))
                })
        }
    }

    @Test(arguments: Seeds.first(10))
    func `any JSON comes back from Foundation's types as it was`(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        for _ in 0..<300 {
            let value = Self.random(&random, depth: 4)
            let back = try JSONValue(foundation: value.foundation)
            #expect(back.text == value.text, "seed \(seed)")
        }
    }

    @Test(arguments: [
        "0", "1", "-1", "true", "false", "0.0", "1.0", "-0.0", "9223372036854775807",
        "-9223372036854775808", "9223372036854775808", "18446744073709551615", "5e-324",
        "1.7976931348623157e+308", "0.1234567890123456789", #""""#, "null", "[]", "{}",
        #"{"a":[true,1,false,0,null,{"b":[[]]}]}"#,
    ])
    func `numbers, booleans and what is empty keep their kind`(_ text: String) throws {
        let value = try JSONValue(parsing: text)
        let back = try JSONValue(foundation: value.foundation)
        #expect(back.text == value.text && back == value)
    }

    @Test func `a number of each of C's types is that number`() throws {
        for (number, text) in [
            (NSNumber(value: Int8.min), "-128"), (NSNumber(value: UInt8.max), "255"),
            (NSNumber(value: Int16.min), "-32768"), (NSNumber(value: UInt16.max), "65535"),
            (NSNumber(value: Int32.min), "-2147483648"),
            (NSNumber(value: UInt32.max), "4294967295"),
            (NSNumber(value: Int64.min), "-9223372036854775808"),
            (NSNumber(value: UInt.max), "18446744073709551615"),
            (NSNumber(value: 1 as Int8), "1"), (NSNumber(value: 0 as UInt8), "0"),
            (NSNumber(value: 0.1 as Float), "0.1"), (NSNumber(value: 0.1), "0.1"),
            (NSNumber(value: true), "true"), (NSNumber(value: false), "false"),
        ] {
            #expect(try JSONValue(foundation: number).text == text)
            #expect(try JSONValue(foundation: ["n": [number]]).text == #"{"n":[\#(text)]}"#)
        }
    }

    @Test func `what JSON cannot hold is refused with its path`() {
        for (value, path) in [
            (NSNumber(value: Double.nan) as Any, ""), ([1, NSObject()] as [Any], "[1]"),
            (["a": ["b": [Double.infinity]]] as [String: Any], "a.b[0]"),
            (NSDecimalNumber.notANumber, ""), (Date.distantFuture.addingTimeInterval(1e18), ""),
            ([7: "x"] as [Int: String], ""),
        ] as [(Any, String)] {
            let failure = #expect(throws: JSONMismatch.self) { try JSONValue(foundation: value) }
            #expect(failure?.path == path, "\(value)")
        }
    }

    // MARK: Objects

    private static let bucket = ServiceClient().bucket("some")
    private static let places = [
        GeoPoint(latitude: 90, longitude: -180), GeoPoint(latitude: -1.5, longitude: 180),
    ]

    @Test func `several GeoPoints are an array, and one is read as one of several`() {
        let object = Self.bucket.createObject()
        #expect(object.setGeoPoints(Self.places, forKey: "stops"))
        #expect(object.getGeoPoints(forKey: "stops") == Self.places)
        #expect(object.getGeoPoint(forKey: "stops") == nil)
        #expect(object.setGeoPoint(Self.places[0], forKey: "stop"))
        #expect(object.getGeoPoints(forKey: "stop") == [Self.places[0]])
        object.setObject([1, Self.places[1], "x"] as [Any], forKey: "mixed")
        object.setObject(7, forKey: "n")
        #expect(object.getGeoPoints(forKey: "mixed") == [Self.places[1]])
        #expect(object.getGeoPoints(forKey: "n") == [] && object.getGeoPoints(forKey: "no") == [])
        let outside = Self.places + [GeoPoint(latitude: 90.1, longitude: 0)]
        #expect(!object.setGeoPoints(outside, forKey: "stops"))
        #expect(object.getGeoPoints(forKey: "stops") == Self.places)
    }

    @Test func `a data type is that of the object from the beginning`() {
        let object = Self.bucket.createObject(withType: "shop")
        #expect(object.objectType == "shop" && object.uuid == nil)
        #expect(object.document.text == #"{"_dataType":"shop"}"#)
        #expect(GeoObject(Self.bucket).objectType == nil)
    }

    @Test func `text of other code points is another value and another name`() {
        let object = Self.bucket.createObject()
        object.setObject("e\u{301}", forKey: "é")
        object.setObject("é", forKey: "e\u{301}")
        #expect(object.document.members.count == 2)
        #expect(object.string(forKey: "é")?.unicodeScalars.count == 2)
        #expect(object.string(forKey: "e\u{301}")?.unicodeScalars.count == 1)
    }
}
