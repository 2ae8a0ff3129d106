import JSONText
import SyntheticData

/// A sample of a bucket's objects, which a load reads by id, moves, and searches near.
public struct Population: Sendable {
    /// An object of the bucket, reduced to what requests need.
    public struct Member: Sendable, Equatable {
        /// The object's id, UTF-8.
        public var id: [UInt8]
        /// The position in its GeoPoint field, in millionths of a degree.
        public var position: MicroPoint

        /// Stores its arguments.
        public init(id: [UInt8], position: MicroPoint) {
            self.id = id
            self.position = position
        }
    }

    /// A uniform sample of the objects that have the field.
    public internal(set) var objects: [Member] = []
    /// How many objects the bucket has.
    public internal(set) var total = 0

    /// The largest sample.
    public static let most = 10_000

    /// Samples a bucket by reading it once with `bucket.export`.
    ///
    /// - Parameter call: must use one connection.
    /// - Throws: `LoadFailure` when the bucket has no object with a GeoPoint in the field; also
    ///   whatever the call throws.
    public static func drawn(
        from bucket: String, field: String, seed: UInt64, _ call: Call
    ) async throws -> Population {
        var population = Population()
        var random = SplitMix64(seed: seed)
        var seen = 0
        let path = field.split(separator: ".").map { Array($0.utf8) }
        var continues = false
        var hasMore = true
        while hasMore {
            let piece = try await call("bucket.export", params(bucket, continues: continues))
            continues = true
            hasMore = try JSONParser.reading(piece) { piece in
                for object in piece["objects"]?.elements ?? piece.elements {
                    population.total += 1
                    guard let member = member(object, path) else { continue }
                    seen += 1
                    population.take(member, seen: seen, &random)
                }
                return piece["more"]?.bool ?? false
            }
        }
        guard !population.objects.isEmpty else {
            throw LoadFailure(
                "the bucket \(bucket) has no object with a GeoPoint in \(field); "
                    + "--prepare N makes some")
        }
        return population
    }

    /// - Reference: Vitter, "Random Sampling with a Reservoir", 1985: algorithm R.
    private mutating func take(_ member: Member, seen: Int, _ random: inout SplitMix64) {
        if objects.count < Self.most { return objects.append(member) }
        let position = random.below(seen)
        if position < Self.most { objects[position] = member }
    }

    private static func params(_ bucket: String, continues: Bool) -> [UInt8] {
        var writer = JSONWriter()
        writer.raw("{\"bucket\":")
        writer.string(bucket)
        if continues { writer.raw(",\"continue\":true") }
        writer.byte(UInt8(ascii: "}"))
        return writer.bytes
    }

    private static func member(_ object: JSONView, _ path: [[UInt8]]) -> Member? {
        guard let id = object["_id"]?.utf8 else { return nil }
        var value: JSONView? = object
        for name in path { value = name.withUnsafeBufferPointer { value?.member($0) } }
        guard value?["_type"]?.string == "point", let latitude = value?["lat"]?.number?.double,
            let longitude = value?["lon"]?.number?.double
        else { return nil }
        return Member(
            id: Array(id), position: MicroPoint(latitude: latitude, longitude: longitude))
    }

    // MARK: Making objects

    /// Writes a number of objects into a bucket, four in five of them near cities. The same seed
    /// gives the same objects, which replace those with the same ids.
    ///
    /// - Parameters:
    ///   - progress: called with the number of objects stored.
    ///   - call: may be called before an earlier call has returned.
    public static func prepare(
        _ count: Int, in bucket: String, seed: UInt64, progress: @Sendable (Int) -> Void,
        _ call: @escaping Call
    ) async throws {
        let dataset = Dataset.clustered(objects: count, seed: seed)
        try await withThrowingTaskGroup(of: Int.self) { group in
            var stored = 0
            for begin in stride(from: 0, to: count, by: groupObjects) {
                if begin >= groupObjects * groupsUnderWay, let done = try await group.next() {
                    stored += done
                    progress(stored)
                }
                let numbers = begin..<min(begin + groupObjects, count)
                group.addTask {
                    _ = try await call("object.putMany", params(bucket, dataset, numbers))
                    return numbers.count
                }
            }
            try await group.waitForAll()
        }
        progress(count)
    }

    private static let groupObjects = 1_000
    private static let groupsUnderWay = 4

    private static func params(_ bucket: String, _ dataset: Dataset, _ numbers: Range<Int>)
        -> [UInt8]
    {
        var writer = JSONWriter(reserving: 256 * numbers.count)
        writer.raw("{\"bucket\":")
        writer.string(bucket)
        writer.raw(",\"objects\":[")
        for number in numbers {
            if number > numbers.lowerBound { writer.byte(UInt8(ascii: ",")) }
            dataset.write(number, into: &writer)
        }
        writer.raw("]}")
        return writer.bytes
    }
}
