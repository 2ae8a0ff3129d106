import BackendContract
import Objects

/// Takes over what another store has changed.
extension StoreTransaction {
    /// Stores a value of at least one byte under a name.
    public func set(_ name: String, to value: [UInt8]) throws {
        try SQLStatement(db, "INSERT OR REPLACE INTO setting (name, value) VALUES (?1, ?2)")
            .bind(1, name).bind(2, blob: value).run()
    }

    /// Adds the field paths that points may refer to. Some may be there.
    public func add(_ fields: [StoreChanges.Field]) throws {
        for field in fields {
            try SQLStatement(db, "INSERT OR IGNORE INTO geo_field (number, path) VALUES (?1, ?2)")
                .bind(1, field.number).bind(2, text: field.path.utf8).run()
        }
    }

    /// Inserts an object of a bucket that exists.
    public func add(_ object: StoreChanges.Object) throws {
        try insert(object, in: try number(of: object.bucket))
    }

    private func number(of name: BucketName) throws -> Int64 {
        guard let number = try bucket(name) else {
            throw StoreFailure.damaged(
                "an object names the bucket \(name.text), which does not exist")
        }
        return number
    }

    /// Inserts an object, or replaces the object that the same change created.
    ///
    /// - Parameter former: the object before; nil if there was none.
    public func put(_ object: StoreChanges.Object, over former: StoredRow?) throws {
        if let former {
            count(object.bucket, objects: -1, bytes: -former.text.count)
            try SQLStatement(db, "DELETE FROM object WHERE creation = ?1")
                .bind(1, Int64(object.creation)).run()
            if former.metadata.expires != nil { try setExpiry(of: object.creation, to: nil) }
        }
        try add(object)
    }

    /// Erases some objects as if they had never been there.
    public func erase(
        _ creations: some Sequence<ChangeNumber>, in bucket: BucketName
    ) throws {
        let statement = try SQLStatement(db, "DELETE FROM object WHERE creation = ?1")
        for creation in creations {
            try countRemoval(of: creation, in: bucket, objects: 1)
            try statement.bind(1, Int64(creation)).run()
            try setExpiry(of: creation, to: nil)
        }
    }

    /// Erases a bucket and its objects as if they had never been there.
    ///
    /// - Complexity: O(objects of all buckets).
    public func erase(_ name: BucketName) throws {
        guard let number = try bucket(name) else { return }
        let objects = "SELECT creation FROM object WHERE bucket = ?1"
        try SQLStatement(db, "DELETE FROM expiry WHERE creation IN (\(objects))")
            .bind(1, number).run()
        _ = try SQLStatement(
            db,
            "SELECT count(*), total(length(CAST(document AS BLOB))) FROM object WHERE bucket = ?1"
        ).bind(1, number).first { count(name, objects: -Int($0.int(0)), bytes: -Int($0.int(1))) }
        try SQLStatement(db, "DELETE FROM object WHERE bucket = ?1").bind(1, number).run()
        try deleteBucket(number, named: name)
    }

    /// The points of an object.
    ///
    /// - Throws: `StoreFailure.damaged` if they refer to a field that does not exist.
    public func points(of object: StoreChanges.Object) throws -> [FieldPoint] {
        var points: [FieldPoint] = []
        let isWhole = try object.points.withUnsafeBufferPointer { bytes in
            try PointsColumn.decode(bytes) { number, coordinate throws(StoreFailure) in
                points.append(
                    FieldPoint(field: try fieldPath(of: number), coordinate: coordinate))
            }
        }
        guard isWhole else { throw StoreFailure.damaged("an object's points cannot be read") }
        return points
    }
}
