import BackendContract
import InMemoryEngine
import JSONText
import Objects

/// Checks the rows of a store, one by one, against the rules for objects and against an index.
struct RowCheck {
    private(set) var problems: [String] = []
    private(set) var points = 0

    private let engine: EngineState?
    private let lastChange: ChangeNumber
    private let parser = JSONParser()
    private let limits: Limits
    private var changes: Set<ChangeNumber> = []
    private var objects: [BucketName: Int] = [:]

    /// - Parameter engine: nil if no engine could be built. The rows are then checked on their own.
    init(engine: EngineState?, lastChange: ChangeNumber) {
        self.engine = engine
        self.lastChange = lastChange
        var limits = Limits()
        // The limits may have been different when the object was written.
        limits.objectCharacters = .max
        limits.objectBytes = .max
        limits.objectDepth = .max
        limits.arrayPoints = .max
        limits.geoFields = .max - 1
        self.limits = limits
    }

    mutating func check(
        _ row: StoredRow, in bucket: Result<BucketName, StoreFailure>,
        _ stored: Result<[FieldPoint], StoreFailure>
    ) {
        var found = numberProblems(row)
        if !row.isWhole {
            found.append("the row is damaged: it does not have the checksum it was written with")
        }
        let name = try? bucket.get()
        if case .failure(let failure) = bucket { found.append("\(failure)") }
        if let name { objects[name, default: 0] += 1 }
        switch stored {
        case .failure(let failure): found.append("\(failure)")
        case .success(let stored):
            // An index has a point once that stands twice in an array.
            points += Self.distinct(stored)
            found += documentProblems(row, stored)
            if let engine, let name {
                found += engine.disagreements(row, stored, in: name, parser)
            }
        }
        let location = "bucket \(name?.text ?? "?"), object \(row.metadata.id.text)"
        problems += found.map { "\(location): \($0)" }
    }

    /// How many points there are, those that are the same to the last bit counted once.
    private static func distinct(_ points: [FieldPoint]) -> Int {
        guard points.count > 1 else { return points.count }
        var known: Set<SIMD2<UInt64>> = []
        var count = 0
        FieldPoint.forEachField(of: points) { _, points in
            known.removeAll(keepingCapacity: true)
            for point in points {
                let place = point.coordinate
                known.insert(SIMD2(place.latitude.bitPattern, place.longitude.bitPattern))
            }
            count += known.count
        }
        return count
    }

    /// The buckets for which the index and the store count different numbers of objects.
    func countProblems() -> [String] {
        guard let engine else { return [] }
        return Set(objects.keys).union(engine.buckets).compactMap { bucket in
            let (stored, indexed) = (objects[bucket] ?? 0, engine.count(of: bucket))
            return stored == indexed
                ? nil
                : "bucket \(bucket.text): \(counted(stored, "object")) stored at change \(lastChange), the "
                    + "index has \(indexed) at change \(engine.change)"
        }.sorted()
    }

    private mutating func numberProblems(_ row: StoredRow) -> [String] {
        var found: [String] = []
        if row.creation > row.change || row.change > lastChange {
            found.append(
                "created by change \(row.creation), last changed by \(row.change), but the "
                    + "store's last change is \(lastChange)")
        }
        if !changes.insert(row.change).inserted {
            found.append("its last change, \(row.change), is that of another object too")
        }
        if row.metadata.version < 1 || row.metadata.modified < row.metadata.created {
            found.append(
                "version \(row.metadata.version), created \(row.metadata.created), modified "
                    + "\(row.metadata.modified)")
        }
        return found
    }

    private func documentProblems(_ row: StoredRow, _ stored: [FieldPoint]) -> [String] {
        do {
            _ = try ObjectID(row.metadata.id.text, at: "_id")
            let document = try WrittenDocument(
                try parser.parse(row.text), at: "document", limits: limits)
            var found: [String] = []
            if document.text != row.text {
                found.append("the document is not as the service would store it")
            }
            if Set(document.points) != Set(stored) {
                found.append(
                    "the document has the points \(Self.list(document.points)), the points column "
                        + "\(Self.list(stored))")
            }
            return found
        } catch let failure as ServiceFailure {
            return ["\(failure.path ?? "document"): \(failure.message)"]
        } catch let error as JSONSyntaxError {
            let location = error.offset.map { ", at byte \($0)" } ?? ""
            return ["the document cannot be read: \(error.message)\(location)"]
        } catch {
            return ["\(error)"]
        }
    }

    private static func list(_ points: [FieldPoint]) -> String {
        points.map {
            "\($0.field.text) \($0.coordinate.latitude),\($0.coordinate.longitude)"
        }.sorted().joined(separator: "; ")
    }
}

extension EngineState {
    fileprivate func disagreements(
        _ row: StoredRow, _ points: [FieldPoint], in bucket: BucketName, _ parser: JSONParser
    ) -> [String] {
        let object = ObjectChange(
            bucket: bucket, metadata: row.metadata, creation: row.creation, change: row.change,
            points: points)
        // An unreadable document is reported separately.
        return (try? disagreements(with: object) { try parser.parse(row.document) }) ?? []
    }
}
