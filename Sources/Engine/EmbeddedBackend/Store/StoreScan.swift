import BackendContract
import GRDB
import Geodesy
import Objects

/// One state of a store that is read from beginning to end, at the start and in checks.
public struct StoreScan {
    /// Every bucket.
    public var buckets: [BucketName] { names.buckets }
    /// The stored place of each bucket; nil for a bucket that has none.
    public var places: [FieldPath?] { names.places }
    /// Every field path that holds a GeoPoint in some object.
    public var fields: [FieldPath] { names.fields }
    let names: Names
    let db: Database

    /// What the numbers in rows stand for: the buckets and field paths, and the index of each number
    /// in these lists.
    struct Names: Sendable {
        fileprivate let buckets: [BucketName]
        fileprivate let places: [FieldPath?]
        fileprivate let fields: [FieldPath]
        fileprivate let bucketIndices: [Int64: Int]
        fileprivate let fieldIndices: [Int64: Int]
        /// Objects whose rows nobody may see.
        fileprivate let deleted: ListedCreations
    }

    init(_ db: Database) throws {
        let (buckets, bucketIndices) = try Self.list(
            db, "SELECT number, name, place FROM bucket"
        ) { (name: BucketName(trusted: $0.text(1) ?? ""), place: $0.path(2)) }
        let (fields, fieldIndices) = try Self.list(db, "SELECT number, path FROM geo_field") {
            $0.path(1) ?? FieldPath(utf8: [])
        }
        self.init(
            db,
            Names(
                buckets: buckets.map(\.name), places: buckets.map(\.place), fields: fields,
                bucketIndices: bucketIndices, fieldIndices: fieldIndices,
                deleted: try ListedCreations(db)))
    }

    /// - Parameter names: those of another scan of the same state.
    init(_ db: Database, _ names: Names) {
        self.db = db
        self.names = names
    }

    /// The names in the rows of a table, and the index of each number in that list.
    private static func list<Name>(
        _ db: Database, _ sql: String, _ name: (SQLStatement) -> Name
    ) throws -> ([Name], [Int64: Int]) {
        var (names, indices): ([Name], [Int64: Int]) = ([], [:])
        let rows = try SQLStatement(db, sql)
        while try rows.step() {
            indices[rows.int(0)] = names.count
            names.append(name(rows))
        }
        return (names, indices)
    }

    /// The number of the last change of the state; 0 for an empty store.
    ///
    /// - Throws: `StoreFailure.damaged` for a negative number.
    public func lastChange() throws -> ChangeNumber { try Self.lastChange(db) }

    /// The number of objects.
    public func objectCount() throws -> Int {
        Int(try SQLStatement(db, "SELECT count(*) FROM object").first { $0.int(0) } ?? 0)
    }

    static func lastChange(_ db: Database) throws -> ChangeNumber {
        let stored = try SQLStatement(db, "SELECT value FROM setting WHERE name = 'last change'")
            .first { $0.int(0) }
        guard let last = ChangeNumber(exactly: stored ?? 0) else {
            throw StoreFailure.damaged("the number of its last change is negative")
        }
        return last
    }

    /// The largest part of the file that is mapped into memory, in bytes. The rest is read.
    private static let mappedBytes = 1 << 30

    /// The number of objects that `forEachObject` delivers at once, to spread the cost of a call.
    /// The memory of small batches is used again and again.
    private static let batch = 1_024

    /// Delivers the part of every object that an engine needs, in batches in the order of creation.
    /// No document is read.
    public func forEachObject(_ body: (LoadedObjects) throws -> Void) throws {
        try withMappedPages { _ = try forEachObject(in: .min ... .max, body) }
    }

    /// Lets SQLite map the pages of the file instead of reading them, which halves the time of a
    /// scan and leaves the page cache empty. The file cannot shrink meanwhile, because no checkpoint
    /// goes past a state that is being read.
    func withMappedPages(_ body: () throws -> Void) throws {
        try db.execute(sql: "PRAGMA mmap_size = \(Self.mappedBytes)")
        defer { try? db.execute(sql: "PRAGMA mmap_size = 0") }
        try body()
    }

    /// What a scan of a range of creations has met at its ends, in the tables of objects and of
    /// expiries.
    struct Ends {
        /// The creations of two rows: the first that a search for the beginning of the range finds,
        /// and the first behind its end; nil where the table ends.
        struct Rows {
            var first: Int64?
            var behind: Int64?
        }

        var objects = Rows()
        var expiries = Rows()

        /// Whether both tables go on here as they ended there.
        func follow(_ before: Ends) -> Bool {
            objects.first == before.objects.behind && expiries.first == before.expiries.behind
        }
    }

    /// Delivers the objects that the changes of some numbers have created.
    ///
    /// A search in a table trusts the numbers that lead it to a page, of which some may be damaged.
    /// Ranges side by side have met every row if each has found first what the one before it has
    /// found behind its end.
    func forEachObject(
        in creations: ClosedRange<Int64>, _ body: (LoadedObjects) throws -> Void
    ) throws -> Ends {
        let rows = try SQLStatement(
            db,
            "SELECT creation, bucket, id, change, points FROM object WHERE creation >= ?1 "
                + "ORDER BY creation"
        ).bind(1, creations.lowerBound)
        defer { rows.reset() }
        var ends = Ends()
        var before = Int64.min
        var expiries = try ExpiryWalk(db, from: creations.lowerBound)
        defer { expiries.end() }
        ends.expiries.first = expiries.creation
        var objects = LoadedObjects(capacity: Self.batch)
        var lastBucket: (number: Int64, index: Int)?
        var lastField: (number: UInt32, index: Int)?
        var deleted = names.deleted.walk(from: creations.lowerBound)
        let last = Int64(clamping: try lastChange())
        while try rows.step() {
            let (creation, change, number) = (rows.int(0), rows.int(3), rows.int(1))
            guard creation > 0, creation <= change, change <= last else {
                throw StoreFailure.damaged(
                    "an object names the changes \(creation) and \(change), the last is \(last)"
                )
            }
            guard creation > before else {
                throw StoreFailure.damaged(
                    "the object of change \(creation) is stored behind that of \(before)")
            }
            before = creation
            ends.objects.first = ends.objects.first ?? creation
            guard creation <= creations.upperBound else {
                ends.objects.behind = creation
                break
            }
            if deleted.contains(creation) { continue }
            let bucket =
                lastBucket?.number == number ? lastBucket!.index : try bucketIndex(number)
            lastBucket = (number, bucket)
            try decode(rows.bytes(4), lastField: &lastField) {
                objects.append(LoadedObjects.Point(field: $0, coordinate: $1))
            }
            objects.append(
                rows.bytes(2) ?? UnsafeBufferPointer(start: nil, count: 0), bucket: bucket,
                creation: ChangeNumber(creation), change: ChangeNumber(change),
                expires: try expiries.time(of: creation))
            if objects.count == Self.batch {
                try body(objects)
                objects = LoadedObjects(capacity: Self.batch)
            }
        }
        if objects.count > 0 { try body(objects) }
        try expiries.pass(creations.upperBound)
        ends.expiries.behind = expiries.creation
        return ends
    }

    /// Calls `body` with every object and its document until it returns false, those of listed
    /// deletions left out. An unreadable part
    /// is passed as a `StoreFailure`.
    public func forEachRow(
        _ body: (
            Result<BucketName, StoreFailure>, StoredRow, Result<[FieldPoint], StoreFailure>
        ) throws -> Bool
    ) throws {
        let rows = try SQLStatement(
            db, "SELECT \(StoredRow.columns), bucket FROM object ORDER BY creation")
        defer { rows.reset() }
        var deleted = names.deleted.walk()
        while try rows.step() {
            if deleted.contains(rows.int(0)) { continue }
            let number = rows.int(13)
            let column = rows.bytes(10)
            let goesOn = try body(
                Result { () throws(StoreFailure) in buckets[try bucketIndex(number)] },
                StoredRow(rows),
                Result { () throws(StoreFailure) in try points(column) })
            guard goesOn else { return }
        }
    }

    /// Expiries that belong to no object.
    public func expiryProblems() throws -> [String] {
        let rows = try SQLStatement(
            db, "SELECT creation FROM expiry WHERE creation NOT IN (SELECT creation FROM object)")
        var found: [String] = []
        while try rows.step() {
            found.append("the object of change \(rows.int(0)) is to expire but not there")
        }
        return found
    }

    /// Tables and indexes that are missing or differ from those of this version.
    public func schemaProblems() throws -> [String] {
        let fresh = try DatabaseQueue()
        try Schema.migrator.migrate(fresh)
        let expected = try fresh.read(Self.schema)
        let found = try Self.schema(db)
        let migrations = try Schema.migrator.hasCompletedMigrations(db)
        let missing = migrations ? [] : ["the list of applied migrations is not complete"]
        return missing
            + expected.filter { found[$0.key] != $0.value }.map {
                found[$0.key] == nil ? "\($0.key) is missing" : "\($0.key) is not as it was made"
            }.sorted()
    }

    private static func schema(_ db: Database) throws -> [String: String] {
        let rows = try Row.fetchAll(
            db, sql: "SELECT type || ' ' || name AS what, sql FROM sqlite_schema WHERE sql NOT NULL"
        )
        return Dictionary(rows.map { ($0["what"], $0["sql"]) }, uniquingKeysWith: { a, _ in a })
    }

    /// The findings of SQLite's own integrity check; empty if there are none.
    public func integrityProblems() throws -> [String] {
        try String.fetchAll(db, sql: "PRAGMA integrity_check").filter { $0 != "ok" }
    }

    private func bucketIndex(_ number: Int64) throws(StoreFailure) -> Int {
        guard let index = names.bucketIndices[number] else {
            throw StoreFailure.damaged("an object names bucket \(number), which does not exist")
        }
        return index
    }

    private func points(
        _ column: UnsafeBufferPointer<UInt8>?
    ) throws(StoreFailure) -> [FieldPoint] {
        var points: [FieldPoint] = []
        var lastField: (number: UInt32, index: Int)?
        try decode(column, lastField: &lastField) {
            points.append(FieldPoint(field: fields[$0], coordinate: $1))
        }
        return points
    }

    /// Calls `body` with each point of a row: the index of its field, and its coordinate.
    ///
    /// - Parameter lastField: the field of the last point, which often is that of the next one.
    private func decode(
        _ column: UnsafeBufferPointer<UInt8>?, lastField: inout (number: UInt32, index: Int)?,
        _ body: (Int, Coordinate) -> Void
    ) throws(StoreFailure) {
        guard let column else { return }
        let isWhole = try PointsColumn.decode(column) { number, coordinate throws(StoreFailure) in
            if lastField?.number != number {
                guard let index = names.fieldIndices[Int64(number)] else {
                    throw StoreFailure.damaged(
                        "a point names field \(number), which does not exist")
                }
                lastField = (number, index)
            }
            body(lastField!.index, coordinate)
        }
        guard isWhole else { throw StoreFailure.damaged("a row's points cannot be read") }
    }
}

/// The expiry times of objects, queried in the order of creation.
private struct ExpiryWalk {
    private let rows: SQLStatement
    /// The first entry that has not been passed yet.
    private var next: (creation: Int64, time: Int64)?

    /// - Parameter first: the first creation that is asked for.
    init(_ db: Database, from first: Int64) throws {
        rows = try SQLStatement(
            db, "SELECT creation, time FROM expiry WHERE creation >= ?1 ORDER BY creation"
        ).bind(1, first)
        try step()
    }

    private mutating func step() throws {
        next = try rows.step() ? (rows.int(0), rows.int(1)) : nil
    }

    /// Resets the statement. It must always be called, because the walk may stop before the last
    /// row.
    func end() { rows.reset() }

    /// The creation of the first entry that has not been passed yet; nil if there is none.
    var creation: Int64? { next?.creation }

    mutating func time(of creation: Int64) throws -> Int64? {
        while let passed = next, passed.creation < creation { try step() }
        return next?.creation == creation ? next?.time : nil
    }

    /// Passes the entries up to a creation.
    mutating func pass(_ creation: Int64) throws {
        while let passed = next, passed.creation <= creation { try step() }
    }
}

extension SQLiteStore {
    /// Reads one state of the store while writers continue.
    public func scan<Result>(
        _ body: (StoreScan) throws -> Result
    ) throws(StoreFailure) -> Result {
        do {
            return try pool.read { db in try body(try StoreScan(db)) }
        } catch {
            throw StoreFailure(error, path: path)
        }
    }
}
