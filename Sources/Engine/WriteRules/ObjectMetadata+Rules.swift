import Backend
import Objects

/// What becomes of one object: its versions and its times.
extension ObjectMetadata {
    /// What a new object begins with.
    init(creating object: PutObject, as id: ObjectID, at now: Int64) {
        self.init(
            id: id, created: now, modified: now, version: 1, owner: object.owner,
            dataType: object.dataType, expires: object.expires)
    }

    /// What a change leaves of it: the next version, modified no earlier than this one.
    func next(at now: Int64, expires: Int64?) -> ObjectMetadata {
        var next = self
        next.version += 1
        next.modified = max(now, modified)
        next.expires = expires
        return next
    }

    /// Whether the object is there for nobody any more.
    func hasExpired(at now: Int64) -> Bool { expires.map { $0 <= now } ?? false }

    /// Refuses a write that was meant for another version; nil: it was meant for any.
    func check(isVersion version: Int64?) throws(ServiceFailure) {
        guard let version, self.version != version else { return }
        throw ServiceFailure(
            .versionIsStale, "the object has version \(self.version), not \(version)",
            at: "ifVersion")
    }
}

extension WriteCondition {
    /// Refuses a put whose condition does not hold.
    ///
    /// - Parameters:
    ///   - present: the object that has the id, if there is one.
    ///   - id: nil where the object is to get a new one.
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
