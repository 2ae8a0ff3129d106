import Foundation
import GeoBucketClient
import TestSupport
import Testing

private struct Address: Codable, Equatable, Sendable {
    var city: String
    var zip: String?
}

private enum Kind: String, Codable, CaseIterable, Sendable { case cafe, bar, kiosk }

private enum Level: Int, Codable, CaseIterable, Sendable {
    case low = -1
    case middle, high
}

private struct Shop: Codable, Equatable, Sendable {
    var name: String
    var open: Bool
    var seats: Int
    var big: UInt64
    var small: Int8
    var rating: Double
    var weight: Float
    var location: GeoPoint
    var opened: Date
    var site: URL
    var key: UUID
    var kind: Kind
    var level: Level?
    var address: Address?
    var others: [Address]
    var tags: [String]
    var prices: [String: Double]
    var grid: [[Int]]
    var flags: [Bool?]

    static func random(_ random: inout SplitMix64) -> Shop {
        func text() -> String {
            let scalars = ["a", "é", "e\u{301}", "日", "🍣", "\"", "\\", "\n", "\u{0}", " ", "/"]
            var result = ""
            for _ in 0..<random.below(8) { result += random.pick(scalars) }
            return result
        }
        func address() -> Address {
            Address(city: text(), zip: random.oneIn(2) ? nil : text())
        }
        func many<Element>(_ make: () -> Element) -> [Element] {
            (0..<random.below(4)).map { _ in make() }
        }
        let bits = Double(bitPattern: random.next())
        return Shop(
            name: text(), open: random.oneIn(2), seats: Int(truncatingIfNeeded: random.next()),
            big: random.next(), small: Int8(truncatingIfNeeded: random.next()),
            rating: bits.isFinite ? bits : 3,
            weight: Float(random.number(-1_000...1_000)),
            location: GeoPoint(
                latitude: random.number(-90...90), longitude: random.number(-180...180)),
            opened: Date(timeIntervalSince1970: Double(random.below(4_000_000_000_000)) / 1_000),
            site: URL(string: "https://example.org/\(random.below(1_000))?q=a%20b")!,
            key: UUID(), kind: random.pick(Kind.allCases),
            level: random.oneIn(3) ? nil : random.pick(Level.allCases),
            address: random.oneIn(3) ? nil : address(), others: many(address), tags: many(text),
            prices: ["x": random.number(0...9), "y": 3], grid: [[1, 2], [], [random.below(9)]],
            flags: [true, nil, false])
    }
}

/// The classic model class, by key-value coding.
private final class Item: KeyValueCoded {
    var identifier = 0
    var canUpdate = false
    var degree = 0.0
    var number: Int?
    var name = ""
    var childs: [String] = []

    static var properties: [Property<Item>] {
        [
            Property("identifier", \.identifier), Property("canUpdate", \.canUpdate),
            Property("degree", \.degree), Property("number", \.number), Property("name", \.name),
            Property("childs", \.childs),
        ]
    }
}

@Suite struct ModelTests {
    @Test func `Ten thousand random models come back equal`() throws {
        var random = SplitMix64(seed: 20_261_121)
        for number in 0..<10_000 {
            let shop = Shop.random(&random)
            let text = try ModelEncoder.encode(shop).utf8
            let back = try ModelDecoder.decode(Shop.self, from: try JSONValue(parsing: text))
            #expect(back == shop, "\(number): \(String(decoding: text, as: UTF8.self))")
            if back != shop { break }
        }
    }

    @Test func `A boolean is true or false, a whole number has no fraction`() throws {
        struct Model: Codable {
            var bool = true
            var int = 3
            var double = 3.0
            var date = Date(timeIntervalSince1970: 1.5)
            var none: Int?
            var point = GeoPoint(latitude: 1, longitude: 2)
        }
        #expect(
            try ModelEncoder.encode(Model()).text
                == #"{"bool":true,"int":3,"double":3.0,"date":1500,"point":{"_type":"point","lat":1.0,"lon":2.0}}"#
        )
    }

    @Test(arguments: [
        (#"{"list":[{"small":300}]}"#, "list[0].small: 300 does not fit Int8"),
        (
            #"{"list":[{"small":1},{"small":true}]}"#,
            "list[1].small: expected a number, found a boolean"
        ),
        (#"{"list":[{"small":1.5}]}"#, "list[0].small: 1.5 does not fit Int8"),
        (#"{"list":[{}]}"#, "list[0].small: is missing"),
        (#"{"list":[{"small":null}]}"#, "list[0].small: expected a number, found null"),
        (#"{"list":{}}"#, "list: expected an array, found an object"),
        (#"{"list":[3]}"#, "list[0]: expected an object, found a number"),
        (#"{"list":[{"small":1,"open":1}]}"#, "list[0].open: expected a boolean, found a number"),
        (#"{"list":[{"small":1,"site":7}]}"#, "list[0].site: expected a string, found a number"),
        (
            #"{"list":[{"small":1,"place":{"_type":"point","lat":91,"lon":0}}]}"#,
            "list[0].place: latitude 91.0 is outside -90...90 degrees"
        ),
        (
            #"{"list":[{"small":1,"names":["a",2]}]}"#,
            "list[0].names[1]: expected a string, found a number"
        ),
    ])
    func `A mismatch names its key path`(_ text: String, _ message: String) throws {
        struct Part: Codable {
            var small: Int8
            var open: Bool?
            var site: URL?
            var place: GeoPoint?
            var names: [String]?
        }
        struct Whole: Codable { var list: [Part] }
        let failure = #expect(throws: JSONMismatch.self) {
            try ModelDecoder.decode(Whole.self, from: try JSONValue(parsing: text))
        }
        #expect(failure?.description == message)
    }

    @Test func `What JSON cannot hold is refused with its key path`() {
        struct Model: Codable { var values = ["a": [1.0, .nan]] }
        #expect(throws: JSONMismatch("nan has no JSON spelling", at: "values.a[1]")) {
            try ModelEncoder.encode(Model())
        }
    }

    @Test func `A number that is not finite fits no type of whole numbers, and no Float`() {
        #expect(throws: JSONMismatch("nan does not fit Int8")) {
            try JSONValue.double(.nan).decode(Int8.self)
        }
        #expect(throws: JSONMismatch("inf does not fit Float")) {
            try JSONValue.double(.infinity).decode(Float.self)
        }
    }

    @Test func `What a model itself refuses to encode is told with its key path`() {
        struct Part: Encodable {
            func encode(to encoder: any Encoder) throws {
                throw EncodingError.invalidValue(
                    self, .init(codingPath: encoder.codingPath, debugDescription: "is odd"))
            }
        }
        struct Model: Encodable { var parts = [Part()] }
        #expect(throws: JSONMismatch("is odd", at: "parts[0]")) {
            try ModelEncoder.encode(Model())
        }
    }

    @Test func `The values of a model are set all or none`() throws {
        struct Model: KeyValueCoded {
            var a = 1
            static var properties: [Property<Model>] {
                [Property("a", \.a), Property("_b", \.a)]
            }
        }
        let object = ServiceClient().bucket("some").createObject()
        #expect(throws: ClientFailure.self) { try object.setValues(of: Model()) }
        #expect(object.document == .object([:]))
    }

    @Test func `Two copies of a stored model do not overwrite each other`() async throws {
        struct Note: Codable, Sendable, Equatable { var text: String }
        try await TestService.with { service in
            let address = ServiceAddress(host: "127.0.0.1", port: service.port)
            try await GeoBucketClient.with(address) { client in
                let notes = client.bucket("notes")
                var mine = try await notes.save(Note(text: "first"))
                var theirs = mine
                mine.model.text = "mine"
                try await notes.save(&mine)
                theirs.model.text = "theirs"
                await #expect(throws: ClientFailure.self) { try await notes.save(&theirs) }
                #expect(theirs.object.string(forKey: "text") == "first" && theirs.version == 1)
                #expect(mine.version == 2 && mine.object.string(forKey: "text") == "mine")
                try await notes.save(&theirs, forced: true)
                #expect(
                    try await notes.object(of: Note.self, withID: mine.id).model.text == "theirs")
            }
        }
    }

    @Test func `Classes with a superclass encode into it and back`() throws {
        class Base: Codable { var a = 1 }
        final class Derived: Base {
            var b = "x"
            private enum Key: CodingKey { case b, base }
            init(_ b: String) {
                super.init()
                self.b = b
            }
            required init(from decoder: any Decoder) throws {
                let values = try decoder.container(keyedBy: Key.self)
                b = try values.decode(String.self, forKey: .b)
                try super.init(from: values.superDecoder(forKey: .base))
            }
            override func encode(to encoder: any Encoder) throws {
                var values = encoder.container(keyedBy: Key.self)
                try values.encode(b, forKey: .b)
                try super.encode(to: values.superEncoder(forKey: .base))
            }
        }
        let value = try ModelEncoder.encode(Derived("y"))
        #expect(value.text == #"{"b":"y","base":{"a":1}}"#)
        #expect(try ModelDecoder.decode(Derived.self, from: value).b == "y")
    }

    @Test func `The classic model class goes from JSON to the model and back to the same JSON`()
        throws
    {
        let text =
            #"{"identifier":7,"canUpdate":true,"degree":3.0,"number":null,"name":"n","childs":["a","b"]}"#
        let document = try JSONValue(parsing: text.dropLast() + #","unknown":[1],"deep":{"x":1}}"#)
        let item = Item()
        try item.configureValues(with: document)
        #expect(item.identifier == 7 && item.canUpdate && item.degree == 3 && item.number == nil)
        #expect(item.name == "n" && item.childs == ["a", "b"])
        #expect(try item.jsonValue.text == text)
        #expect(try item.valueDictionary["canUpdate"] == .bool(true))
        try item.configureValues(with: try JSONValue(parsing: #"{"number":5,"canUpdate":false}"#))
        #expect(item.number == 5 && !item.canUpdate && item.name == "n")
        for (text, message) in [
            (#"{"canUpdate":1}"#, "canUpdate: expected a boolean, found a number"),
            (#"{"identifier":1e300}"#, "identifier: 1e+300 does not fit Int"),
            (#"{"childs":["a",null]}"#, "childs[1]: expected a string, found null"),
        ] {
            let failure = #expect(throws: JSONMismatch.self) {
                try item.configureValues(with: try JSONValue(parsing: text))
            }
            #expect(failure?.description == message)
        }
    }

    @Test func `Models are saved, found, changed and kept apart from unknown fields`() async throws
    {
        struct Place: Codable, Sendable, Equatable {
            var name: String
            var rating: Int?
            var location: GeoPoint
        }
        try await TestService.with { service in
            let address = ServiceAddress(host: "127.0.0.1", port: service.port)
            try await GeoBucketClient.with(address) { client in
                let places = client.bucket("places")
                let tower = GeoPoint(latitude: 35.66, longitude: 139.75)
                var stored = try await places.save(
                    Place(name: "Tower", rating: 5, location: tower), withID: "tower")
                #expect(stored.id == "tower" && stored.version == 1)

                let other = try await places.object(withID: "tower")
                other.setObject("kept", forKey: "extra")
                try await other.save()
                stored.model.name = "Old"
                await #expect(throws: ClientFailure.self) { try await places.save(&stored) }

                var query = BucketQuery(clause: Field<String>("name") == "Tower")
                query = BucketQuery(
                    clause: query.clause
                        && .geoDistance("location", center: tower, putDistanceInto: "d"))
                var found: [Stored<Place>] = []
                for try await place in places.objects(of: Place.self, matching: query) {
                    found.append(place)
                }
                #expect(found.count == 1 && found[0].distance("d") == 0)
                found[0].model.rating = nil
                try await places.save(&found[0])
                let read = try await places.object(withID: "tower")
                #expect(read.string(forKey: "extra") == "kept" && !read.hasObject("rating"))
                #expect(found[0].version == 3)
                try await places.save(&found[0], unknownFields: .dropped)
                #expect(try await !places.object(withID: "tower").hasObject("extra"))

                try await places.createObject(withID: "bad").saveAllFields()
                let failure = await #expect(throws: JSONMismatch.self) {
                    for try await _ in places.objects(of: Place.self) {}
                }
                #expect(failure?.description == "bad.name: is missing")
            }
        }
    }
}
