import JSONText

/// Objects with a position, a category, a rating and a name; the same seed gives the same objects.
///
///     let places = Dataset.clustered(objects: 1_000_000, seed: 1)
///     places.document(of: 17)      // {"_id":"o00000017","name":…}, about 200 bytes
///
/// - Complexity: 10 bytes an object; documents are written on demand.
public struct Dataset: Sendable {
    /// The name of the set in reports.
    public let name: String
    /// The positions of the objects, by number.
    public private(set) var positions: [MicroPoint] = []
    /// The categories of the objects, as indices into `categoryNames`.
    public private(set) var categories: [UInt8] = []
    /// The ratings of the objects, 0 through 100.
    public private(set) var ratings: [UInt8] = []

    /// The number of objects, which are numbered from 0.
    public var count: Int { positions.count }

    /// The names of the categories in alphabetical order.
    public static let categoryNames = [
        "bakery", "bank", "bar", "bookshop", "cafe", "charger", "cinema", "clinic", "florist",
        "gallery", "gym", "hotel", "library", "market", "museum", "parking", "pharmacy", "school",
        "station", "theatre",
    ]

    /// Objects at given positions, with seeded attributes.
    public init(name: String, positions: [MicroPoint], seed: UInt64) {
        self.name = name
        self.positions = positions
        var random = SplitMix64(seed: seed ^ 0xa77_21b5)
        categories.reserveCapacity(positions.count)
        ratings.reserveCapacity(positions.count)
        for _ in positions {
            categories.append(UInt8(random.below(Self.categoryNames.count)))
            ratings.append(UInt8(random.below(101)))
        }
    }

    /// Four in five objects around 2,000 centres (standard deviation 0.05 to 0.5 degrees, by
    /// centre), one in five anywhere from 60 degrees south to 75 north.
    public static func clustered(objects: Int, seed: UInt64) -> Dataset {
        var random = SplitMix64(seed: seed)
        let centers = (0..<2_000).map { _ in
            (
                latitude: random.number(-55...70), longitude: random.number(-175...175),
                sigma: random.number(0.05...0.5)
            )
        }
        var positions: [MicroPoint] = []
        positions.reserveCapacity(objects)
        for _ in 0..<objects {
            if random.below(5) == 0 {
                positions.append(
                    MicroPoint(
                        latitude: random.number(-60...75), longitude: random.number(-180...180)))
            } else {
                let center = centers[random.below(centers.count)]
                positions.append(
                    MicroPoint(
                        latitude: center.latitude + center.sigma * random.gaussian(),
                        longitude: center.longitude + center.sigma * random.gaussian()))
            }
        }
        return Dataset(name: "clustered", positions: positions, seed: seed)
    }

    /// `o00000017`
    public static func id(_ object: Int) -> String {
        let digits = String(object)
        return "o" + String(repeating: "0", count: max(0, 8 - digits.count)) + digits
    }

    /// The number of an object by its id.
    public static func object(_ id: some StringProtocol) -> Int? { Int(id.dropFirst()) }

    /// The JSON of an object by its number, with its id in `_id`, as UTF-8.
    public func document(of object: Int) -> [UInt8] {
        var writer = JSONWriter(reserving: 256)
        write(object, into: &writer)
        return writer.bytes
    }

    /// Appends the JSON of an object with its id in `_id`.
    public func write(_ object: Int, into writer: inout JSONWriter) {
        writer.raw("{\"_id\":")
        writer.string(Self.id(object))
        Self.writeMembers(
            object, category: Int(categories[object]), rating: Int(ratings[object]),
            at: positions[object], into: &writer)
    }

    /// Appends the JSON of an object without an id, as `object.create` takes it.
    public static func writeNew(
        _ object: Int, category: Int, rating: Int, at position: MicroPoint,
        into writer: inout JSONWriter
    ) {
        writer.byte(UInt8(ascii: "{"))
        writeMembers(object, category: category, rating: rating, at: position, into: &writer)
    }

    /// Appends the members besides the id, and the closing brace.
    private static func writeMembers(
        _ object: Int, category: Int, rating: Int, at position: MicroPoint,
        into writer: inout JSONWriter
    ) {
        var random = SplitMix64(seed: UInt64(object))
        let category = categoryNames[category]
        writer.key("name")
        writer.string(
            "\(adjectives[random.below(8)]) \(nouns[random.below(8)]) \(category) \(object)")
        writer.key("category")
        writer.string(category)
        writer.key("rating")
        writer.integer(rating)
        writer.key("location")
        write(position, into: &writer)
        writer.key("street")
        writer.string("\(1 + random.below(300)) \(nouns[random.below(8)]) street")
        writer.key("open")
        writer.bool(random.below(2) == 0)
        writer.byte(UInt8(ascii: "}"))
    }

    /// Appends a GeoPoint.
    public static func write(_ position: MicroPoint, into writer: inout JSONWriter) {
        writer.raw("{\"_type\":\"point\",\"lat\":")
        writer.millionths(Int64(position.latitude))
        writer.key("lon")
        writer.millionths(Int64(position.longitude))
        writer.byte(UInt8(ascii: "}"))
    }

    private static let adjectives = [
        "Blue", "Bright", "Golden", "Green", "Little", "Old", "Quiet", "Silver",
    ]
    private static let nouns = [
        "bridge", "castle", "fountain", "garden", "harbour", "mill", "orchard", "tower",
    ]
}

extension Dataset {
    /// The number of the object whose document this is.
    public static func object(ofDocument document: [UInt8]) throws -> Int {
        try JSONParser.reading(document) { $0["_id"]?.string.flatMap { object($0) } ?? -1 }
    }
}
