import BackendContract
import GRDB
import Objects

/// A part of a store on its way into another one, which is to be the same.
public enum StorePart: Sendable {
    /// Buckets and field paths, objects that they allow to be stored, and tombstones.
    case changes(StoreChanges)
    /// Writes that were done under a key, oldest first.
    case requests([(key: String, request: RememberedRequest)])

    /// The number of objects or requests in one part.
    public static let count = 1_000

    /// The number of objects in this part.
    public var objects: Int {
        if case .changes(let changes) = self { changes.objects.count } else { 0 }
    }
}

extension FrozenStore {
    /// Passes on the whole state, except what a start derives from it: buckets and field paths,
    /// objects in the order of creation, tombstones, requests.
    ///
    /// - Throws: `StoreFailure.damagedObject` for a damaged row; errors of `body` as a
    ///   `StoreFailure`.
    public func forEachPart(_ body: (StorePart) throws -> Void) throws(StoreFailure) {
        try read { db in
            let scan = try StoreScan(db)
            let none = StoreChanges(after: try scan.lastChange())
            var names = none
            names.buckets = zip(scan.buckets, scan.places).map {
                StoreChanges.Bucket(name: $0, change: 0, place: $1)
            }
            let fields = "SELECT number, path FROM geo_field"
            try Self.batches(db, fields, StoreChanges.Field.init) { names.fields += $0 }
            try body(.changes(names))
            let objects = "SELECT \(StoredRow.columns) FROM object ORDER BY creation"
            var deleted = try ListedCreations(db).walk()
            try Self.batches(
                db, objects, where: { !deleted.contains($0.int(0)) },
                StoreChanges.Object.init(whole:)
            ) {
                var part = none
                part.objects = $0
                try body(.changes(part))
            }
            let tombstones =
                "SELECT change, creation, bucket, id, deleted FROM tombstone ORDER BY change"
            try Self.batches(db, tombstones, StoreChanges.Tombstone.init) {
                var part = none
                part.tombstones = $0
                try body(.changes(part))
            }
            for deletion in try ListedDeletion.all(db) {
                var part = none
                try deletion.forEachRow(from: 0, db) { position, id in
                    part.tombstones.append(
                        StoreChanges.Tombstone(
                            change: deletion.change(ofObject: position),
                            creation: deletion.creations[position], bucket: deletion.bucket,
                            id: id, deleted: deletion.deleted))
                    return true
                }
                try body(.changes(part))
            }
            let requests = "SELECT key, time, digest, answer FROM request ORDER BY number"
            try Self.batches(db, requests, Self.request) { try body(.requests($0)) }
        }
    }

    private static func request(_ row: SQLStatement) -> (key: String, request: RememberedRequest) {
        (
            row.text(0) ?? "",
            RememberedRequest(time: row.int(1), digest: row.array(2), answer: row.array(3))
        )
    }

    private static func batches<Value>(
        _ db: Database, _ sql: String, where isWanted: (SQLStatement) -> Bool = { _ in true },
        _ value: (SQLStatement) throws -> Value, _ body: ([Value]) throws -> Void
    ) throws {
        let rows = try SQLStatement(db, sql)
        defer { rows.reset() }
        var batch: [Value] = []
        while try rows.step() {
            guard isWanted(rows) else { continue }
            batch.append(try value(rows))
            if batch.count == StorePart.count {
                try body(batch)
                batch.removeAll(keepingCapacity: true)
            }
        }
        if !batch.isEmpty { try body(batch) }
    }
}

extension StoreTransaction {
    /// Adds a part of another store, whose buckets and field paths come first.
    public func add(_ part: StorePart) throws {
        switch part {
        case .changes(let changes):
            try add(changes.fields)
            for bucket in changes.buckets {
                try setPlace(
                    of: try createBucket(bucket.name), named: bucket.name, to: bucket.place)
            }
            for object in changes.objects { try add(object) }
            for tombstone in changes.tombstones { try insert(tombstone) }
        case .requests(let requests):
            for (key, request) in requests { try remember(request, key: key) }
        }
    }
}

extension StoreChanges.Object {
    /// The object in a row of `StoredRow.columns`.
    fileprivate init(whole columns: SQLStatement) throws {
        let row = StoredRow(columns)
        guard row.isWhole else { throw StoreFailure.damagedObject(creation: row.creation) }
        self.init(
            creation: row.creation, change: row.change,
            bucket: BucketName(trusted: columns.text(12) ?? ""), metadata: row.metadata,
            points: columns.array(10), text: row.text)
    }
}

extension StoreChanges.Field {
    fileprivate init(_ row: SQLStatement) {
        self.init(number: row.int(0), path: row.path(1) ?? FieldPath(utf8: []), change: 0)
    }
}

extension StoreChanges.Tombstone {
    fileprivate init(_ row: SQLStatement) {
        self.init(
            change: ChangeNumber(truncatingIfNeeded: row.int(0)),
            creation: ChangeNumber(truncatingIfNeeded: row.int(1)),
            bucket: BucketName(trusted: row.text(2) ?? ""),
            id: ObjectID(trusted: row.text(3) ?? ""), deleted: row.int(4))
    }
}

extension SQLStatement {
    fileprivate func array(_ column: Int32) -> [UInt8] { bytes(column).map { Array($0) } ?? [] }
}
