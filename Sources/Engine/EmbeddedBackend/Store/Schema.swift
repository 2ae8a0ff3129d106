import GRDB

/// The tables of the store, and the migrations from earlier versions.
///
/// A registered migration is never edited. A change of the schema is a new migration.
enum Schema {
    /// "GEOB": identifies the files of this program.
    static let applicationID: Int32 = 0x4745_4F42

    /// The value of `PRAGMA user_version`: the number of the last migration.
    static let version = 9

    /// The number of rows that a migration reads before it writes them.
    static let rowsAtOnce: Int64 = 1_000

    static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("1") { db in
            try db.execute(sql: schema1)
            try db.execute(sql: "PRAGMA application_id = \(applicationID)")
            try db.execute(sql: "PRAGMA user_version = 1")
        }
        migrator.registerMigration("2") { db in
            try db.execute(sql: schema2)
            try db.execute(sql: "PRAGMA user_version = 2")
        }
        migrator.registerMigration("3") { db in
            try db.execute(sql: schema3)
            try db.execute(sql: "PRAGMA user_version = 3")
        }
        migrator.registerMigration("4") { db in
            try db.execute(sql: schema4)
            try db.execute(sql: "PRAGMA user_version = 4")
        }
        migrator.registerMigration("5") { db in
            try db.execute(sql: schema5)
            try fillChecksums(db)
            try db.execute(sql: "PRAGMA user_version = 5")
        }
        migrator.registerMigration("6") { db in
            try addArrayPoints(db)
            try db.execute(sql: "PRAGMA user_version = 6")
        }
        migrator.registerMigration("7") { db in
            try db.execute(sql: schema7)
            try db.execute(sql: "PRAGMA user_version = 7")
        }
        migrator.registerMigration("8") { db in
            try db.execute(sql: schema8)
            try db.execute(sql: "PRAGMA user_version = 8")
        }
        migrator.registerMigration("9") { db in
            try db.execute(sql: schema9)
            try fillUsage(db)
            try db.execute(sql: "PRAGMA user_version = 9")
        }
        return migrator
    }

    /// - `object.creation`, the number of the change that created the object, is the row id, so
    ///   rows are in the order of creation.
    /// - `object.points` holds the data for the spatial index, so that a start parses no document:
    ///   for each GeoPoint the number of its field and two binary64 values, little-endian. Since
    ///   schema 6 these include the GeoPoints in arrays.
    /// - `tombstone` keeps deletions for a bounded time, for clients that follow changes.
    private static let schema1 = """
        CREATE TABLE setting (name TEXT PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID;
        CREATE TABLE bucket (number INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
        CREATE TABLE geo_field (number INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE);
        CREATE TABLE object (
            creation INTEGER PRIMARY KEY,
            bucket INTEGER NOT NULL REFERENCES bucket(number),
            id TEXT NOT NULL,
            change INTEGER NOT NULL,
            version INTEGER NOT NULL,
            created INTEGER NOT NULL,
            modified INTEGER NOT NULL,
            owner TEXT,
            data_type TEXT,
            points BLOB,
            document TEXT NOT NULL
        );
        CREATE UNIQUE INDEX object_by_id ON object(bucket, id);
        CREATE TABLE tombstone (
            change INTEGER PRIMARY KEY,
            creation INTEGER NOT NULL,
            bucket TEXT NOT NULL,
            id TEXT NOT NULL,
            deleted INTEGER NOT NULL
        );
        """

    /// - `expiry` holds the objects that expire, with the time in milliseconds since 1970.
    /// - `request` holds the writes that clients may repeat, oldest first, with a digest of the
    ///   request and the answer.
    private static let schema2 = """
        CREATE TABLE expiry (creation INTEGER PRIMARY KEY, time INTEGER NOT NULL);
        CREATE INDEX expiry_by_time ON expiry(time);
        CREATE TABLE request (
            number INTEGER PRIMARY KEY,
            key TEXT NOT NULL UNIQUE,
            time INTEGER NOT NULL,
            digest BLOB NOT NULL,
            answer BLOB NOT NULL
        );
        """

    /// - The writer, which has all ids in memory, ensures that ids are unique. An index of ids,
    ///   which arrive in no order, made almost every object of a bulk load write another page. The
    ///   remaining index grows only at the end of a bucket.
    private static let schema3 = """
        DROP INDEX object_by_id;
        CREATE INDEX object_by_bucket ON object(bucket);
        """

    /// - The engine knows the objects of a bucket. The index cost each insertion a second tree.
    private static let schema4 = """
        DROP INDEX object_by_bucket;
        """

    /// - `object.checksum` covers the document and everything else that the row, its expiry and its
    ///   bucket say about the object: see `RowChecksum`.
    private static let schema5 = """
        ALTER TABLE object ADD COLUMN checksum INTEGER NOT NULL DEFAULT 0;
        """

    /// - `bucket.creator` is the principal whose write created the bucket, for the limit of buckets by
    ///   principal; null if nobody had logged in, or an earlier version created it.
    /// - `deletion` has the deletions of many objects whose rows are still to be removed:
    ///   `first_change` deleted the first of them, the next changes the others, and `creations` lists
    ///   the changes that created them: see `ListedDeletion`.
    private static let schema7 = """
        ALTER TABLE bucket ADD COLUMN creator TEXT;
        CREATE INDEX bucket_by_creator ON bucket(creator);
        CREATE TABLE deletion (
            first_change INTEGER PRIMARY KEY,
            bucket TEXT NOT NULL,
            bucket_number INTEGER NOT NULL,
            deleted INTEGER NOT NULL,
            creations BLOB NOT NULL,
            checksum INTEGER NOT NULL
        );
        """

    /// - `bucket.place` is the path of the geo field that maps and collections show; null without one,
    ///   or if an earlier version wrote the bucket last.
    private static let schema8 = """
        ALTER TABLE bucket ADD COLUMN place TEXT;
        """

    /// - `scope_usage` has what the buckets of each scope hold together, for quotas: see
    ///   `StoreTransaction.count`. The application's own scope is not counted.
    private static let schema9 = """
        CREATE TABLE scope_usage (
            scope TEXT PRIMARY KEY,
            objects INTEGER NOT NULL,
            bytes INTEGER NOT NULL,
            buckets INTEGER NOT NULL
        ) WITHOUT ROWID;
        """
}
