import Backend
import GRDB
import Geodesy
import Objects

/// One state of a store, read from its beginning to its end: for the start and for checks.
public struct StoreScan {
    private let db: Database
    private let bucketNames: [Int64: BucketName]
    private let fields: [UInt32: FieldPath]

    init(_ db: Database) throws {
        self.db = db
        var buckets: [Int64: BucketName] = [:]
        let rows = try SQLStatement(db, "SELECT number, name FROM bucket")
        while try rows.step() { buckets[rows.int(0)] = BucketName(trusted: rows.text(1) ?? "") }
        bucketNames = buckets
        var fields: [UInt32: FieldPath] = [:]
        let paths = try SQLStatement(db, "SELECT number, path FROM geo_field")
        while try paths.step() {
            fields[UInt32(paths.int(0))] = FieldPath(utf8: paths.bytes(1).map { Array($0) } ?? [])
        }
        self.fields = fields
    }

    public var buckets: [BucketName] { Array(bucketNames.values) }

    public func lastChange() throws -> ChangeNumber {
        let stored = try SQLStatement(db, "SELECT value FROM setting WHERE name = 'last change'")
            .first { $0.int(0) }
        return ChangeNumber(stored ?? 0)
    }

    /// What an engine needs of every object, in the order of creation; no document is read.
    public func forEachObject(_ body: (ObjectChange) throws -> Void) throws {
        let rows = try SQLStatement(
            db, "SELECT creation, bucket, id, change, points FROM object ORDER BY creation")
        while try rows.step() {
            try body(
                ObjectChange(
                    bucket: try bucket(rows.int(1)), id: ObjectID(trusted: rows.text(2) ?? ""),
                    creation: ChangeNumber(rows.int(0)), change: ChangeNumber(rows.int(3)),
                    points: try points(rows.bytes(4))))
        }
    }

    /// Every object with its document; what cannot be read is a `StoreFailure` in its place.
    public func forEachRow(
        _ body: (
            Result<BucketName, StoreFailure>, StoredRow, Result<[FieldPoint], StoreFailure>
        ) throws -> Void
    ) throws {
        let rows = try SQLStatement(
            db, "SELECT \(StoredRow.columns), bucket, points FROM object ORDER BY creation")
        while try rows.step() {
            let number = rows.int(9)
            let column = rows.bytes(10)
            try body(
                Result { () throws(StoreFailure) in try bucket(number) }, StoredRow(rows),
                Result { () throws(StoreFailure) in try points(column) })
        }
    }

    /// Tables and indexes that are missing or not as this version makes them.
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

    /// What SQLite's own integrity check has to say; empty when all is well.
    public func integrityProblems() throws -> [String] {
        try String.fetchAll(db, sql: "PRAGMA integrity_check").filter { $0 != "ok" }
    }

    private func bucket(_ number: Int64) throws(StoreFailure) -> BucketName {
        guard let name = bucketNames[number] else {
            throw StoreFailure.damaged("an object names bucket \(number), which does not exist")
        }
        return name
    }

    private func points(
        _ column: UnsafeBufferPointer<UInt8>?
    ) throws(StoreFailure) -> [FieldPoint] {
        guard let column else { return [] }
        guard let decoded = PointsColumn.decode(column) else {
            throw StoreFailure.damaged("a row's points cannot be read")
        }
        return try decoded.map { number, coordinate throws(StoreFailure) in
            guard let field = fields[number] else {
                throw StoreFailure.damaged("a point names field \(number), which does not exist")
            }
            return FieldPoint(field: field, coordinate: coordinate)
        }
    }
}

extension ObjectStore {
    /// Reads one state of the store; writers go on meanwhile.
    public func scan<Result>(
        _ body: (StoreScan) throws -> Result
    ) throws(StoreFailure) -> Result {
        do {
            return try pool.read { db in try body(try StoreScan(db)) }
        } catch {
            throw StoreFailure(error, path: path)
        }
    }

    /// Reads one state of a store that another process may be serving; changes nothing.
    public static func scan<Result>(
        path: String, _ body: (StoreScan) throws -> Result
    ) throws(StoreFailure) -> Result {
        guard let size = StoreLock.size(of: path) else { throw .notFound(path: path) }
        guard size > 0 else { throw .notADatabase(path: path) }
        var configuration = Configuration()
        configuration.readonly = true
        configuration.busyMode = .timeout(3)
        do {
            let queue = try DatabaseQueue(path: path, configuration: configuration)
            return try queue.read { db in
                try check(db, path: path)
                return try body(try StoreScan(db))
            }
        } catch {
            throw StoreFailure(error, path: path)
        }
    }
}
