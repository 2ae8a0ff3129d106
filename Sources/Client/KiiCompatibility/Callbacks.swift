import GeoBucketClient

// The forms that return at once and call a block when they are done. The block runs on the actor of
// the caller, for example the main actor, or without an actor on a thread of the runtime. So a
// block may change what its caller owns. What is saved or asked for is what there is at the call,
// whatever is changed before the block runs. What is called for one object is done in that order.

extension GeoObject {
    /// Is called once, with the object of the call and the error; nil means that it succeeded.
    public typealias ObjectBlock = (KiiObject, (any Error)?) -> Void

    /// Sends the changed fields, over a newer version too; creates an object that has no id.
    ///
    /// - Parameters:
    ///   - isolation: the actor that the block runs on; callers leave it out.
    ///   - block: is called with an error that `KiiError` describes, or nil.
    public func save(
        isolation: isolated (any Actor)? = #isolation, _ block: @escaping ObjectBlock
    ) { save(true, isolation: isolation, with: block) }

    /// Sends the changed fields; creates an object that has no id.
    ///
    /// - Parameter forced: whether to write over a version newer than the one that was read.
    ///   Without it that is error 512, `KiiError.codeObjectIsOlder()`.
    public func save(
        _ forced: Bool, isolation: isolated (any Actor)? = #isolation,
        with block: @escaping ObjectBlock
    ) {
        let copy = copy
        run(isolation, block, isSave: true) { turn in
            try await self.save(turn.object(copy, now: self.copy), forced: forced)
        }
    }

    /// Sends the whole object, which replaces what the service has.
    ///
    /// - Parameter forced: whether to write over a newer version, and to create an object that is
    ///   gone.
    public func saveAllFields(
        _ forced: Bool, isolation: isolated (any Actor)? = #isolation,
        with block: @escaping ObjectBlock
    ) {
        let copy = copy
        run(isolation, block, isSave: true) { turn in
            try await self.saveAllFields(turn.object(copy, now: self.copy), forced: forced)
        }
    }

    /// Reads the object; local changes are lost.
    public func refresh(
        isolation: isolated (any Actor)? = #isolation, _ block: @escaping ObjectBlock
    ) { run(isolation, block) { _ in try await self.refresh() } }

    /// Deletes the object at the service; locally it keeps its fields and loses its id.
    public func delete(
        isolation: isolated (any Actor)? = #isolation, _ block: @escaping ObjectBlock
    ) { run(isolation, block) { _ in try await self.delete() } }

    /// - Parameter isSave: whether it saves the object.
    private func run(
        _ isolation: isolated (any Actor)?, _ block: @escaping ObjectBlock, isSave: Bool = false,
        _ body: @escaping @Sendable (Turn) async throws -> Void
    ) {
        let turn = Turn(of: self, isSave: isSave)
        let operation: @Sendable () async throws -> Void = {
            await turn.begin()
            defer { turn.finish() }
            try await body(turn)
        }
        start(isolation, operation) { result in block(self, result.failure) }
    }
}

extension Bucket {
    /// Is called once with the query, the bucket, the objects of the page (`KiiObject`s; nil after
    /// an error), the query for the next page (nil if there is none), and the error.
    public typealias QueryBlock =
        (KiiQuery?, KiiBucket, [Any]?, KiiQuery?, (any Error)?) -> Void
    /// Is called once with the bucket, the query, how many objects match (0 after an error), and
    /// the error.
    public typealias CountBlock = (KiiBucket, KiiQuery?, UInt, (any Error)?) -> Void
    /// Is called once, with the bucket of the call and the error; nil means that it succeeded.
    public typealias BucketBlock = (KiiBucket, (any Error)?) -> Void

    /// One page: the query, the bucket, the objects, the query for the next page, the error.
    public func execute(
        _ query: BucketQuery?, isolation: isolated (any Actor)? = #isolation,
        with block: @escaping QueryBlock
    ) {
        let asked = query?.copy() ?? BucketQuery()
        let ask: @Sendable () async throws -> QueryResult = { try await self.execute(asked) }
        start(isolation, ask) { result in
            let page = try? result.get()
            block(query, self, page?.objects, page?.nextQuery, result.failure)
        }
    }

    /// Counts the objects of the bucket. The block gets a query for all of them.
    public func count(
        isolation: isolated (any Actor)? = #isolation, _ block: @escaping CountBlock
    ) { count(with: BucketQuery(), isolation: isolation, block) }

    /// Counts the objects that match a query as it is at the call; nil means all.
    public func count(
        with query: BucketQuery?, isolation: isolated (any Actor)? = #isolation,
        _ block: @escaping CountBlock
    ) {
        let asked = query?.copy() ?? BucketQuery()
        let ask: @Sendable () async throws -> Int = { try await self.count(asked) }
        start(isolation, ask) { result in
            block(self, query, UInt((try? result.get()) ?? 0), result.failure)
        }
    }

    /// Deletes the bucket and all its objects.
    public func delete(
        isolation: isolated (any Actor)? = #isolation, _ block: @escaping BucketBlock
    ) {
        let delete: @Sendable () async throws -> Int = { try await self.delete() }
        start(isolation, delete) { result in block(self, result.failure) }
    }
}

/// Runs `body`, then `done` on the actor of the caller; errors are like Kii's.
private func start<Value: Sendable>(
    _ isolation: isolated (any Actor)?, _ body: @escaping @Sendable () async throws -> Value,
    done: @escaping (Result<Value, any Error>) -> Void
) {
    Task {
        // Named here, the actor is the task's too.
        _ = isolation
        do {
            done(.success(try await body()))
        } catch {
            done(.failure(KiiError.error(for: error)))
        }
    }
}

extension Result {
    fileprivate var failure: Failure? {
        if case .failure(let failure) = self { return failure }
        return nil
    }
}
