import Archives
import Foundation
import JSONText
import Testing

/// A class of an app's own. An Objective-C class of another name wrote the archives; this one, written
/// anew in Swift, reads them.
final class Shop: NSObject, NSCoding {
    var name: String?
    var count = 0
    var ratio: Float = 0
    var open = false
    var parts: [Shop] = []

    override init() {}

    init?(coder: NSCoder) {
        name = coder.decodeObject(forKey: "name") as? String
        count = coder.decodeInteger(forKey: "count")
        ratio = coder.decodeFloat(forKey: "ratio")
        open = coder.decodeBool(forKey: "open")
        parts = coder.decodeObject(forKey: "parts") as? [Shop] ?? []
    }

    func encode(with coder: NSCoder) {
        coder.encode(name.map { $0 as NSString }, forKey: "name")
        coder.encode(count, forKey: "count")
        coder.encode(ratio, forKey: "ratio")
        coder.encode(open, forKey: "open")
        coder.encode(parts as NSArray, forKey: "parts")
    }
}

/// Archives written by Foundation's own archiver.
@Suite struct FoundationArchiveTests {
    private static func shop() -> Shop {
        let part = Shop()
        part.name = "Counter"
        let shop = Shop()
        (shop.name, shop.count, shop.ratio, shop.open) = ("Kiosk 🍣", -3, 0.1, true)
        shop.parts = [part, part]
        return shop
    }

    /// An archive in which `Shop` has the old class's name, which is as long as its own.
    private static func archive(_ body: (NSKeyedArchiver) -> Void) -> [UInt8] {
        let archiver = NSKeyedArchiver(requiringSecureCoding: false)
        body(archiver)
        archiver.finishEncoding()
        var data = archiver.encodedData
        while let name = data.range(of: Data("ArchivesTests.Shop".utf8)) {
            data.replaceSubrange(name, with: Data("MYShopInObjectiveC".utf8))
        }
        return Array(data)
    }

    @Test(arguments: [PropertyListSerialization.PropertyListFormat.binary, .xml])
    func `Objects of an app's class are read without the class`(
        _ format: PropertyListSerialization.PropertyListFormat
    ) throws {
        let bytes = Self.archive {
            $0.outputFormat = format
            $0.encode(Self.shop(), forKey: NSKeyedArchiveRootObjectKey)
        }
        var options = KeyedArchive.Options()
        options.typeFields = ["MYShopInObjectiveC": "kind"]
        let value = try KeyedArchive(bytes, options: options).value(forKey: "root")
        let part = try JSONValue(
            parsing:
                #"{"kind":"MYShopInObjectiveC","name":"Counter","count":0,"ratio":0,"open":false,"parts":[]}"#
        )
        #expect(
            value["kind"] == .string("MYShopInObjectiveC") && value["name"] == .string("Kiosk 🍣"))
        #expect(value["count"] == .int(-3) && value["open"] == .bool(true))
        #expect(try value.member("ratio", as: Float.self) == 0.1)
        #expect(value["parts"]?.array?.count == 2)
        for name in part.names { #expect(value["parts"]?[1]?[name] == part[name], "\(name)") }
    }

    @Test func `An archive of the old class decodes into the new one`() throws {
        let bytes = Self.archive { $0.encode(Self.shop(), forKey: "shop") }
        let unarchiver = try NSKeyedUnarchiver(forReadingFrom: Data(bytes))
        unarchiver.requiresSecureCoding = false
        unarchiver.setClass(Shop.self, forClassName: "MYShopInObjectiveC")
        let shop = try #require(unarchiver.decodeObject(forKey: "shop") as? Shop)
        #expect(shop.name == "Kiosk 🍣" && shop.count == -3 && shop.ratio == 0.1 && shop.open)
        #expect(shop.parts.count == 2 && shop.parts[0] === shop.parts[1])
    }

    @Test func `Named keys and Foundation's classes`() throws {
        let bytes = Self.archive { archiver in
            archiver.encode(7, forKey: "integer")
            archiver.encode(true, forKey: "bool")
            archiver.encode(Double.pi, forKey: "double")
            archiver.encode("text" as NSString, forKey: "string")
            archiver.encode(NSNumber(value: 5), forKey: "number")
            archiver.encode(NSDate(timeIntervalSince1970: 1.5), forKey: "date")
            archiver.encode(NSData(data: Data([0, 255, 16])), forKey: "data")
            archiver.encode(NSArray(array: [1, "x", NSNull()]), forKey: "array")
            archiver.encode(NSDictionary(dictionary: ["k": 1]), forKey: "dictionary")
            archiver.encode(
                NSUUID(uuidString: "12345678-9ABC-DEF0-FEDC-BA9876543210")!, forKey: "uuid")
            archiver.encode(NSURL(string: "https://example.org/a")!, forKey: "url")
            archiver.encode(NSSet(array: ["only"]), forKey: "set")
        }
        let archive = try KeyedArchive(bytes)
        #expect(archive.keys.count == 12)
        for (key, json) in [
            ("integer", "7"), ("bool", "true"), ("double", "3.141592653589793"),
            ("string", "\"text\""), ("number", "5"), ("date", "1500"), ("data", "\"AP8Q\""),
            ("array", #"[1,"x",null]"#), ("dictionary", #"{"k":1}"#),
            ("uuid", #""12345678-9ABC-DEF0-FEDC-BA9876543210""#),
            ("url", #""https://example.org/a""#), ("set", #"["only"]"#),
        ] {
            #expect(try archive.value(forKey: key).text == json, "\(key)")
        }
    }

    @Test func `An integer is read into any width that holds it, else refused by name`() throws {
        let bytes = Self.archive { archiver in
            archiver.encode(Self.shop(), forKey: "root")
            archiver.encode(70_000, forKey: "wide")
        }
        let archive = try KeyedArchive(bytes)
        let root = try archive.value(forKey: "root")
        #expect(try root.member("count", as: Int8.self) == -3)
        #expect(try root.member("count", as: Int64.self) == -3)
        #expect(try root.member("count", as: Double.self) == -3)
        #expect(throws: JSONMismatch("-3 does not fit UInt16", at: "count")) {
            try root.member("count", as: UInt16.self)
        }
        #expect(throws: JSONMismatch("expected a number, found a boolean", at: "open")) {
            try root.member("open", as: Int.self)
        }
        #expect(try archive.value(forKey: "wide").decode(Int32.self) == 70_000)
        #expect(throws: JSONMismatch("70000 does not fit Int16")) {
            try archive.value(forKey: "wide").decode(Int16.self)
        }
    }
}
