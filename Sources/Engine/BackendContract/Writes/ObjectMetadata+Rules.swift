import Objects

/// The rules for an object's versions and times.
extension ObjectMetadata {
    /// The metadata of a new object.
    init(creating object: PutObject, as id: ObjectID, at now: Int64) {
        self.init(
            id: id, created: now, modified: now, version: 1, owner: object.owner,
            dataType: object.dataType, expires: object.expires)
    }

    /// The metadata of an object that is restored.
    ///
    /// - Parameter present: that of the object whose place it takes.
    init(
        restoring object: PutObject, as id: ObjectID, after present: ObjectMetadata?, at now: Int64
    ) {
        let known = object.restored
        let created = known?.created ?? now
        self.init(
            id: id, created: created,
            modified: max(known?.modified ?? now, created, present?.modified ?? created),
            version: max(known?.version ?? 1, (present?.version ?? 0) + 1), owner: known?.owner,
            dataType: object.dataType, expires: object.expires)
    }

    /// The metadata after a change: the next version, with a modification time that is not before
    /// the present one.
    func next(at now: Int64, expires: Int64?) -> ObjectMetadata {
        var next = self
        next.version += 1
        next.modified = max(now, modified)
        next.expires = expires
        return next
    }

    /// Whether the object has expired and is therefore invisible.
    func hasExpired(at now: Int64) -> Bool { expires.map { $0 <= now } ?? false }

    /// Rejects a write that was meant for another version. Nil stands for any version.
    func check(isVersion version: Int64?) throws(ServiceFailure) {
        guard let version, self.version != version else { return }
        throw ServiceFailure(
            .versionIsStale, "the object has version \(self.version), not \(version)",
            at: "ifVersion")
    }
}

extension WriteCondition {
    /// Rejects a put whose condition is not met.
    ///
    /// - Parameters:
    ///   - present: the object with the id, if it exists.
    ///   - id: nil if the object is to get a new id.
    func check(
        _ present: ObjectMetadata?, _ id: ObjectID?, in bucket: BucketName
    ) throws(ServiceFailure) {
        switch self {
        case .none: break
        case .absent:
            guard let present else { return }
            throw ServiceFailure(
                .alreadyExists, "there is an object \"\(present.id.text)\" already", at: "id")
        case .version(let version):
            guard let present else {
                throw .noObject(id ?? ObjectID(trusted: ""), in: bucket)
            }
            try present.check(isVersion: version)
        }
    }
}
