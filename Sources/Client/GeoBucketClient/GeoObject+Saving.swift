import PlainJSON
import Wire

extension GeoObject {
    /// Sends what was changed here since the last save. Fields that others changed are kept.
    ///
    /// An object without an id is created. One with an id must exist: `saveAllFields` creates it.
    ///
    /// - Throws: `ClientFailure.refused` with `OBJECT_NOT_FOUND`; `.invalid` for an object larger
    ///   than the limit, before anything is sent.
    public func save() async throws { try await save(forced: true) }

    /// As `save()`; if not forced, only if nobody has changed the object since it was read here.
    ///
    /// - Throws: `ClientFailure.refused` with `OBJECT_VERSION_IS_STALE`; `.invalid` if the version
    ///   is not known because the object was never read or saved here.
    public func save(forced: Bool) async throws { try await save(copy, forced: forced) }

    /// Saves the object as it was when the copy was taken.
    package func save(_ copy: State, forced: Bool) async throws {
        try check(copy)
        guard let id = copy.id else { return try await create(copy) }
        guard forced || copy.version != nil else {
            throw ClientFailure.invalid(
                "the object's version is not known; refresh it first", path: nil)
        }
        let condition = forced ? [] : versionCondition(copy)
        let changed = copy.changedNames.map { ($0, copy[$0]) }
        if changed.allSatisfy({ $0.1.map(Self.isPatchable) ?? true }) {
            let patch = changed.map { JSONValue.Member($0.0, $0.1 ?? .null) }
            let expiry = copy.expiryIsChanged ? [Self.expiry(copy.expires)] : []
            do {
                return try await write(
                    .patch, id, JSONValue.object(patch).utf8, condition + expiry, copy)
            } catch ClientFailure.refused(let failure)
                where failure.reason == .invalidInputData
                && changed.contains(where: { $0.1?.geoPoint != nil })
            {
                // The service's copy may have another object in the place of the point.
            }
        }
        try await replaceFields(changed, id, forced ? nil : copy.version, copy)
    }

    /// Replaces the whole object by this one, `expires` included, or creates it if it does not
    /// exist.
    ///
    /// - Parameter forced: false writes only over the version that was read here, or, if none was
    ///   read, only if no object has the id.
    /// - Throws: `ClientFailure.refused` with `OBJECT_VERSION_IS_STALE` or `OBJECT_ALREADY_EXISTS`;
    ///   `.invalid` for an object that was read with only some of its fields.
    public func saveAllFields(forced: Bool = true) async throws {
        try await saveAllFields(copy, forced: forced)
    }

    /// Saves all fields as they were when the copy was taken.
    package func saveAllFields(_ copy: State, forced: Bool) async throws {
        try check(copy)
        guard let id = copy.id else { return try await create(copy) }
        guard !copy.isPartial else { throw Self.partial }
        var condition: [JSONValue.Member] = []
        if !forced {
            condition =
                copy.version == nil ? [.init("ifAbsent", .bool(true))] : versionCondition(copy)
        }
        try await put(copy.text, id, condition, expires: copy.expires, copy)
    }

    /// Replaces the whole object by this one if its value of a field is greater than the service's, or
    /// creates it: a position that arrives late overwrites none that is later.
    ///
    ///     try await courier.saveAllFields(ifNewer: "fixedAt")
    ///
    /// Values are in the order in which queries sort them; a missing one is less than all others.
    ///
    /// - Returns: whether it was written. If not, the object here stays as it is, with its changes.
    /// - Throws: `ClientFailure.invalid` for an object without an id, or that was read with only some of
    ///   its fields.
    @discardableResult
    public func saveAllFields(ifNewer field: String) async throws -> Bool {
        let copy = copy
        try check(copy)
        let id = try existingID()
        guard !copy.isPartial else { throw Self.partial }
        let members: [JSONValue.Member] = [
            .init("id", .string(id)), .init("ifNewer", .string(field)), Self.expiry(copy.expires),
        ]
        let answer = try await bucket.write(.put, members, object: copy.text) { view in
            view["written"]?.bool == false ? nil : try State(view)
        }
        if let answer { finish(answer, copy) }
        return answer != nil
    }

    private static var partial: ClientFailure {
        .invalid("the object was read with some of its fields only; refresh it first", path: nil)
    }

    /// Reads the object again; changes that were not saved are lost.
    ///
    /// - Throws: `ClientFailure.refused` with `OBJECT_NOT_FOUND`; `.invalid` for an object without
    ///   an id.
    public func refresh() async throws {
        var fresh = try await Self.read(try existingID(), in: bucket)
        state.withLock { state in
            // Keeps counting, so that a save in progress does not mistake later changes for its
            // own.
            fresh.changeCount = state.changeCount
            state = fresh
        }
    }

    /// Deletes the object from the bucket. The local fields stay and can be saved as a new object.
    public func delete() async throws {
        _ = try await bucket.write(.delete, [.init("id", .string(try existingID()))])
        state.withLock { state in
            (state.id, state.version, state.created, state.modified) = (nil, nil, nil, nil)
        }
    }

    private static func read(_ id: String, in bucket: Bucket) async throws -> State {
        try await bucket.read(.get, [.init("id", .string(id))]) { try State($0) }
    }

    private func existingID() throws -> String {
        guard let id = uuid else {
            throw ClientFailure.invalid("the object has no id; save it first", path: nil)
        }
        return id
    }

    /// The object as it is now.
    package var copy: State { state.withLock { $0 } }

    /// - Throws: `ClientFailure.invalid` for a document that is too large to be sent.
    private func check(_ copy: State) throws {
        let configuration = bucket.client.configuration
        let size = DocumentSize(
            characters: configuration.objectCharacters, bytes: configuration.objectBytes)
        if let excess = size.excess(of: copy.text) {
            throw ClientFailure.invalid(excess, path: nil)
        }
    }

    private func versionCondition(_ copy: State) -> [JSONValue.Member] {
        copy.version.map { [.init("ifVersion", .number(.integer($0)))] } ?? []
    }

    private func create(_ copy: State) async throws {
        var members: [JSONValue.Member] = []
        if let type = copy.dataType { members.append(.init("dataType", .string(type))) }
        if copy.expires != nil { members.append(Self.expiry(copy.expires)) }
        let answer = try await bucket.write(.create, members, object: copy.text) {
            try State($0)
        }
        finish(answer, copy)
    }

    /// Writes a whole object; one put without an expiry does not expire.
    private func put(
        _ object: [UInt8], _ id: String, _ condition: [JSONValue.Member], expires: Int64?,
        _ copy: State
    ) async throws {
        try await write(.put, id, object, condition + [Self.expiry(expires)], copy)
    }

    private func write(
        _ method: MethodName, _ id: String, _ object: [UInt8], _ members: [JSONValue.Member],
        _ copy: State
    ) async throws {
        let members = [.init("id", .string(id))] + members
        finish(try await bucket.write(method, members, object: object) { try State($0) }, copy)
    }

    private static func expiry(_ expires: Int64?) -> JSONValue.Member {
        .init("expiresAt", expires?.jsonValue ?? .null)
    }

    /// Applies the answer to a write; what was changed here meanwhile remains to be saved. Nothing
    /// is applied if the object has become another one, and no older version over a newer.
    func finish(_ answer: State, _ copy: State) {
        state.withLock { state in
            guard state.id == copy.id else { return }
            if state.version == copy.version || answer.version ?? 0 > state.version ?? 0 {
                (state.id, state.created) = (answer.id, answer.created)
                (state.modified, state.version) = (answer.modified, answer.version)
            }
            state.changes = state.changes.filter { $0.value > copy.changeCount }
            if state.expires == copy.expires { state.expiryIsChanged = false }
        }
    }

    /// Whether a merge patch sets exactly this value: it would merge objects, and treat nulls as
    /// removals. A GeoPoint over a GeoPoint merges into the new one; over any other object it gives
    /// an object that the service refuses.
    private static func isPatchable(_ value: JSONValue) -> Bool {
        switch value {
        case .null: false
        case .object: value.geoPoint != nil
        default: true
        }
    }

    /// Reads the object, sets the changed fields and writes it back. If somebody else wrote in
    /// between, it does so again if that is allowed.
    private func replaceFields(
        _ changed: [(String, JSONValue?)], _ id: String, _ version: Int64?, _ copy: State
    ) async throws {
        while true {
            var current = try await Self.read(id, in: bucket)
            for (name, value) in changed { current.set(value, name) }
            if let version { current.version = version }
            do {
                return try await put(
                    current.text, id, versionCondition(current),
                    expires: copy.expiryIsChanged ? copy.expires : current.expires, copy)
            } catch ClientFailure.refused(let failure)
                where failure.reason == .versionIsStale && version == nil
            {
                try Task.checkCancellation()
            }
        }
    }
}
