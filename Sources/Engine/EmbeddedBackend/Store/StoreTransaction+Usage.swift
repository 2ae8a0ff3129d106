import BackendContract
import GRDB
import Objects

/// What each scope holds, counted with every row that comes, changes or goes.
///
/// The application's own scope is not counted, because it has no quota. Bytes of a listed deletion go
/// with its rows, its objects at once.
extension StoreTransaction {
    /// Notes what has been added to a bucket, or removed from it by negative numbers.
    func count(_ bucket: BucketName, objects: Int = 0, bytes: Int = 0, buckets: Int = 0) {
        let scope = bucket.scope
        guard scope != .application else { return }
        usage[scope, default: ScopeUsage()] =
            usage[scope, default: ScopeUsage()]
            + ScopeUsage(objects: objects, bytes: bytes, buckets: buckets)
    }

    /// Notes that the row of an object is about to go, or to get another document.
    ///
    /// - Parameter objects: how many objects go with it.
    func countRemoval(
        of creation: ChangeNumber, in bucket: BucketName, objects: Int
    ) throws {
        guard bucket.scope != .application else { return }
        count(bucket, objects: -objects, bytes: -(try documentBytes(of: creation)))
    }

    /// The bytes of the stored document of an object; 0 if there is no such object.
    public func documentBytes(of creation: ChangeNumber) throws -> Int {
        try SQLStatement(
            db, "SELECT length(CAST(document AS BLOB)) FROM object WHERE creation = ?1"
        ).bind(1, Int64(creation)).first { Int($0.int(0)) } ?? 0
    }

    /// What a scope holds, with the changes of this transaction.
    public func usage(of scope: BucketScope) throws -> ScopeUsage {
        let stored = try SQLStatement(
            db, "SELECT objects, bytes, buckets FROM scope_usage WHERE scope = ?1"
        ).bind(1, scope.text).first(ScopeUsage.init)
        return (stored ?? ScopeUsage()) + (usage[scope] ?? ScopeUsage())
    }

    /// Stores what has been noted.
    func storeUsage() throws {
        for (scope, change) in usage where change != ScopeUsage() {
            try SQLStatement(
                db,
                """
                INSERT INTO scope_usage (scope, objects, bytes, buckets) VALUES (?1, ?2, ?3, ?4)
                ON CONFLICT (scope) DO UPDATE SET
                    objects = objects + ?2, bytes = bytes + ?3, buckets = buckets + ?4
                """
            ).bind(1, scope.text).bind(2, Int64(change.objects)).bind(3, Int64(change.bytes))
                .bind(4, Int64(change.buckets)).run()
            try SQLStatement(
                db,
                "DELETE FROM scope_usage WHERE scope = ?1 AND objects = 0 AND bytes = 0 "
                    + "AND buckets = 0"
            ).bind(1, scope.text).run()
        }
        usage = [:]
    }
}

extension ScopeUsage {
    fileprivate init(_ row: SQLStatement) {
        self.init(objects: Int(row.int(0)), bytes: Int(row.int(1)), buckets: Int(row.int(2)))
    }
}

/// The same by the rows themselves, for the migration and for checks.
enum CountedUsage {
    /// What each scope holds.
    ///
    /// - Complexity: O(objects); documents of the application's own scope are not read.
    static func all(_ db: Database) throws -> [String: ScopeUsage] {
        var scopes = try buckets(db)
        var usage: [String: ScopeUsage] = [:]
        for scope in scopes.values { usage[scope, default: ScopeUsage()].buckets += 1 }
        // Rows of a listed deletion may have outlived their bucket.
        let listed = try SQLStatement(db, "SELECT bucket_number, bucket FROM deletion")
        while try listed.step() {
            let scope = BucketName(trusted: listed.text(1) ?? "").scope
            if scope != .application { scopes[listed.int(0)] = scope.text }
        }
        guard !scopes.isEmpty else { return usage }
        let rows = try SQLStatement(
            db,
            """
            SELECT creation, bucket, length(CAST(document AS BLOB)) FROM object
            WHERE bucket IN (SELECT number FROM bucket WHERE instr(name, '/') > 0
                UNION SELECT bucket_number FROM deletion)
            ORDER BY creation
            """)
        defer { rows.reset() }
        var deleted = try ListedCreations(db).walk()
        while try rows.step() {
            guard let scope = scopes[rows.int(1)] else { continue }
            usage[scope, default: ScopeUsage()].bytes += Int(rows.int(2))
            if !deleted.contains(rows.int(0)) { usage[scope]!.objects += 1 }
        }
        return usage
    }

    /// The scopes of the buckets that have one, by their numbers.
    private static func buckets(_ db: Database) throws -> [Int64: String] {
        var scopes: [Int64: String] = [:]
        let rows = try SQLStatement(
            db, "SELECT number, name FROM bucket WHERE instr(name, '/') > 0")
        while try rows.step() {
            scopes[rows.int(0)] = BucketName(trusted: rows.text(1) ?? "").scope.text
        }
        return scopes
    }
}

extension Schema {
    /// Part of the migration to schema 9: counts what is there.
    static func fillUsage(_ db: Database) throws {
        for (scope, usage) in try CountedUsage.all(db) {
            try SQLStatement(
                db,
                "INSERT INTO scope_usage (scope, objects, bytes, buckets) VALUES (?1, ?2, ?3, ?4)"
            ).bind(1, scope).bind(2, Int64(usage.objects)).bind(3, Int64(usage.bytes))
                .bind(4, Int64(usage.buckets)).run()
        }
    }
}

extension StoreScan {
    /// The scopes that are said to hold something else than their rows show.
    public func usageProblems() throws -> [String] {
        var counted = try CountedUsage.all(db)
        var problems: [String] = []
        func compare(_ scope: String, _ stored: ScopeUsage, _ counted: ScopeUsage) {
            guard stored != counted else { return }
            problems.append(
                "scope \(scope): the count says \(Self.sentence(stored)), the rows "
                    + Self.sentence(counted))
        }
        let rows = try SQLStatement(
            db, "SELECT objects, bytes, buckets, scope FROM scope_usage ORDER BY scope")
        while try rows.step() {
            let scope = rows.text(3) ?? ""
            compare(scope, ScopeUsage(rows), counted.removeValue(forKey: scope) ?? ScopeUsage())
        }
        for (scope, usage) in counted.sorted(by: { $0.key < $1.key }) {
            compare(scope, ScopeUsage(), usage)
        }
        return problems
    }

    private static func sentence(_ usage: ScopeUsage) -> String {
        "\(usage.objects) objects, \(usage.bytes) bytes, \(usage.buckets) buckets"
    }
}
