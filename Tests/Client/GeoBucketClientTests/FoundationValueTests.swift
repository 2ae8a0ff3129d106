import Foundation
import GeoBucketClient
import KiiCompatibility
import TestSupport
import Testing

/// Values as Foundation has them: what goes in, what comes out, and what it can be cast to.
@Suite struct FoundationValueTests {
    private static func value(_ text: String) throws -> Any {
        try JSONValue(parsing: text).foundation
    }

    @Test func `Values are of Foundation's classes`() throws {
        #expect(type(of: try Self.value("null")) is NSNull.Type)
        #expect(type(of: try Self.value("true")) is NSNumber.Type)
        #expect(type(of: try Self.value("1")) is NSNumber.Type)
        #expect(type(of: try Self.value("1.5")) is NSNumber.Type)
        #expect(type(of: try Self.value("\"x\"")) is NSString.Type)
        #expect(type(of: try Self.value("[1]")) is NSArray.Type)
        #expect(type(of: try Self.value("{\"a\":1}")) is NSDictionary.Type)
        let digits = try #require(try Self.value("0.1234567890123456789") as? NSDecimalNumber)
        #expect(digits.stringValue == "0.1234567890123456789")
    }

    @Test func `Casts are those of Apple's bridging`() throws {
        #expect(try Self.value("987") as? Int == 987 && Self.value("987") as? Double == 987)
        #expect(try Self.value("987") as? UInt == 987 && Self.value("987") as? Float == 987)
        #expect(try Self.value("987") as? Int64 == 987 && Self.value("987") as? Int8 == nil)
        #expect(try Self.value("12.5") as? Double == 12.5 && Self.value("12.5") as? Int == nil)
        #expect(try Self.value("19.99") as? Double == 19.99)
        #expect(try Self.value("3.0") as? Int == 3)
        #expect(try Self.value("18446744073709551615") as? UInt64 == .max)
        #expect(try Self.value("true") as? Bool == true && Self.value("false") as? Bool == false)
        #expect(try Self.value("2") as? Bool == nil && Self.value("1") as? String == nil)
        #expect(try Self.value("\"x\"") as? String == "x" && Self.value("\"x\"") is String)
        #expect(try Self.value("[1,2]") as? [Int] == [1, 2])
        #expect(try Self.value("[1,2]") as? [Double] == [1, 2])
        #expect(try Self.value("[\"a\"]") as? [String] == ["a"])
        #expect((try Self.value("[1,\"a\",null]") as? [Any])?.count == 3)
        #expect(try Self.value("{\"a\":1}") as? [String: Int] == ["a": 1])
        #expect((try Self.value("{\"a\":[{}]}") as? [String: Any])?["a"] is [[String: Any]])
        #expect(((try Self.value("7")) as! NSNumber).intValue == 7)
        // What the manual says does not work.
        #expect(try Self.value("1") as? CGFloat == nil && Self.value("1") as? Decimal == nil)
        #expect(try Self.value("1.5") as? NSDecimalNumber == nil)
    }

    @Test func `dictionaryValue has every field as Foundation does`() throws {
        let object = ServiceClient().bucket("some").createObject(withID: "one")
        object.setObject(["x": [1, "b"] as [Any]] as [String: Any], forKey: "deep")
        object.setObject(7, forKey: "n")
        object.setObject(NSNull(), forKey: "none")
        let dictionary: [String: Any] = object.dictionaryValue()
        #expect(dictionary["_id"] as? String == "one" && dictionary["n"] as? Double == 7)
        #expect(((dictionary["deep"] as! NSDictionary)["x"] as! NSArray).count == 2)
        #expect(dictionary["none"] is NSNull && dictionary.count == 4)
        #expect((dictionary as NSDictionary).count == 4)
        let copy = ServiceClient().bucket("some").createObject()
        #expect(copy.setObject(dictionary["deep"], forKey: "deep"))
        #expect(copy["deep"] == object["deep"])
    }

    @Test func `Foundation's classes go in`() throws {
        let data = Data([1, 2, 3])
        let id = UUID()
        let moment = Date(timeIntervalSince1970: 1.5)
        for (value, text) in [
            (NSData(data: data) as Any, "\"AQID\""), (NSMutableString(string: "x"), "\"x\""),
            (NSURL(string: "https://example.org/a")!, "\"https://example.org/a\""),
            (NSUUID(uuidString: id.uuidString)!, "\"\(id.uuidString)\""),
            (moment as NSDate, "1500"), (CGFloat(1.5), "1.5"), (NSNumber(value: 2), "2"),
            (NSArray(array: [NSNumber(value: true), NSNull()]), "[true,null]"),
            (NSMutableDictionary(dictionary: ["a": NSDecimalNumber(string: "0.1")]), "{\"a\":0.1}"),
            ([Decimal(string: "0.07")!, 1] as [Any], "[0.07,1]"),
        ] {
            #expect(try JSONValue(foundation: value).text == text)
        }
    }

    private final class Place: NSObject, KeyValueCoded {
        var city = NSString(string: "")
        static var properties: [Property<Place>] { [Property("city", \.city)] }
    }

    private final class Item: KeyValueCoded {
        var number = NSNumber(value: 0)
        var price = NSDecimalNumber.zero
        var width = CGFloat(0)
        var data = NSData()
        var names = NSArray()
        var mutable = NSMutableArray()
        var table = NSDictionary()
        var moment = NSDate()
        var note: NSString?
        var place = Place()
        static var properties: [Property<Item>] {
            [
                Property("number", \.number), Property("price", \.price),
                Property("width", \.width),
                Property("data", \.data), Property("names", \.names),
                Property("mutable", \.mutable), Property("table", \.table),
                Property("moment", \.moment), Property("note", \.note), Property("place", \.place),
            ]
        }
    }

    private static let text =
        #"{"number":7,"price":19.99,"width":1.5,"data":"AQID","names":["a",1],"mutable":[true],"table":{"k":[]},"moment":1500,"note":null,"place":{"city":"Oslo"}}"#

    @Test func `They are properties of models`() throws {
        let item = Item()
        let place = item.place
        try item.configureValues(with: try JSONValue(parsing: Self.text))
        #expect(item.number == 7 && item.price == NSDecimalNumber(string: "19.99"))
        #expect(item.width == 1.5 && item.data == NSData(data: Data([1, 2, 3])))
        #expect(item.names.count == 2 && item.table["k"] is NSArray && item.note == nil)
        #expect(item.moment.timeIntervalSince1970 == 1.5 && item.place === place)
        item.mutable.add("x")
        #expect(try item.jsonValue["mutable"]?.text == #"[true,"x"]"#)
        item.mutable.removeLastObject()
        #expect(try item.jsonValue.text == Self.text)
        try item.configureValues(with: try JSONValue(parsing: #"{"note":"n"}"#))
        #expect(item.note == "n" && item.place.city == "Oslo")
    }

    @Test(arguments: [
        (#"[{"number":1}]"#, "expected an object, found an array"),
        (#""number""#, "expected an object, found a string"),
        ("null", "expected an object, found null"),
        (#"{"number":"7"}"#, "number: expected NSNumber, found a string"),
        (#"{"number":null}"#, "number: expected NSNumber, found null"),
        (#"{"names":{"a":1}}"#, "names: expected NSArray, found an object"),
        (#"{"mutable":{"a":1}}"#, "mutable: expected NSMutableArray, found an object"),
        (#"{"table":[1]}"#, "table: expected NSDictionary, found an array"),
        (#"{"note":[]}"#, "note: expected NSString, found an array"),
        (#"{"data":7}"#, "data: expected a string, found a number"),
        (#"{"place":[]}"#, "place: expected an object, found an array"),
        (#"{"place":{"city":1}}"#, "place.city: expected NSString, found a number"),
        (#"{"price":true}"#, "price: expected a number, found a boolean"),
    ])
    func `What does not match is refused with its path`(_ text: String, _ message: String) throws {
        let failure = #expect(throws: JSONMismatch.self) {
            try Item().configureValues(with: try JSONValue(parsing: text))
        }
        #expect(failure?.description == message)
    }
}
