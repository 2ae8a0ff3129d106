import BackendContract
import Geodesy
import JSONText
import Objects
import QueryLanguage
import Runtime
import TestSupport

@testable import InMemoryEngine

let shops = BucketName(trusted: "shops")
let location = FieldPath("location")

/// A source without documents, for tests that ask for none.
struct NoDocuments: DocumentSource {
    func document(
        creation: ChangeNumber
    ) throws(ServiceFailure) -> (change: ChangeNumber, text: [UInt8])? { nil }

    func forEachDocument(
        in bucket: BucketName, _ body: (ChangeNumber, [UInt8]) -> Bool
    ) throws(ServiceFailure) {}
}

func makeEngine(
    _ tuning: Engine.Tuning = Engine.Tuning(), limits: Limits = Limits(),
    clock: ServiceClock = ServiceClock(milliseconds: { 0 }),
    ready: @escaping @Sendable () -> Void = {}
) -> Engine {
    Engine(
        limits: limits, secret: [1], source: NoDocuments(), tuning: tuning, clock: clock,
        backgroundWorkReady: ready)
}

func position(_ random: inout SplitMix64) -> Coordinate {
    Coordinate(
        latitude: Double(random.below(180_000)) / 1_000 - 90,
        longitude: Double(random.below(360_000)) / 1_000 - 180)
}

/// An id as new objects get it: 36 bytes.
func uuid(_ number: Int) -> ObjectID {
    let digits = String(number, radix: 16)
    return ObjectID(
        trusted: "01a2b3c4-0000-7000-8000-" + String(repeating: "0", count: 12 - digits.count)
            + digits)
}

func upsert(
    _ bucket: BucketName, _ id: ObjectID, creation: ChangeNumber, change: ChangeNumber,
    at position: Coordinate?
) -> Change {
    .upsert(
        ObjectChange(
            bucket: bucket,
            metadata: ObjectMetadata(id: id, created: 0, modified: 0, version: 1),
            creation: creation, change: change,
            points: position.map { [FieldPoint(field: location, coordinate: $0)] } ?? []),
        text: Array("{}".utf8))
}

extension Engine {
    /// How many objects satisfy a clause.
    func count(
        _ clause: Clause, in bucket: BucketName, by principal: String? = nil
    ) throws(ServiceFailure) -> Int {
        var writer = JSONWriter()
        return try prepare(.count(clause, in: bucket, by: principal)).run(into: &writer).count
    }

    /// One transaction that does some changes, in their order.
    func apply(_ changes: [Change], upTo change: ChangeNumber) {
        let (next, parser) = (nextSnapshot(), JSONParser())
        for change in changes {
            switch change {
            case .upsert(let object, let text): next.upsert(object, text, parser)
            case .delete(let bucket, let creations, let changes):
                next.delete(creations, in: bucket, by: changes)
            case .deleteBucket(let name): next.deleteBucket(name)
            }
        }
        publish(next, upTo: change)
    }

    /// Loads objects with a point each, dealt out to some buckets in turn.
    func load(objects: Int, buckets: [BucketName], _ random: inout SplitMix64) throws {
        try load(buckets: buckets, fields: [location], change: ChangeNumber(objects)) { feed in
            var loaded = LoadedObjects(capacity: 1_000)
            for number in 1...objects {
                loaded.append(LoadedObjects.Point(field: 0, coordinate: position(&random)))
                var id = uuid(number).text
                id.withUTF8 {
                    loaded.append(
                        $0, bucket: number % buckets.count, creation: ChangeNumber(number),
                        change: ChangeNumber(number))
                }
                if number % 1_000 == 0 || number == objects {
                    try feed(loaded)
                    loaded = LoadedObjects(capacity: 1_000)
                }
            }
        }
    }
}

extension MemoryStatistics {
    /// Without caches and kept documents.
    var indexBytes: Int { buckets + records + ids + points + columns }
}
