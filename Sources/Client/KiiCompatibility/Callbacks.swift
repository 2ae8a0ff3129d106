import GeoBucketClient

// The forms that return at once and call a block when they are done. The block runs on the actor of
// the caller, for example the main actor, or without an actor on a thread of the runtime. So a
// block may change what its caller owns.

extension GeoObject {
    public typealias ObjectBlock = (KiiObject, (any Error)?) -> Void

    public func save(
        isolation: isolated (any Actor)? = #isolation, _ block: @escaping ObjectBlock
    ) { run(isolation, block) { try await self.save() } }

    public func save(
        _ forced: Bool, isolation: isolated (any Actor)? = #isolation,
        with block: @escaping ObjectBlock
    ) { run(isolation, block) { try await self.save(forced: forced) } }

    public func saveAllFields(
        _ forced: Bool, isolation: isolated (any Actor)? = #isolation,
        with block: @escaping ObjectBlock
    ) { run(isolation, block) { try await self.saveAllFields(forced: forced) } }

    public func refresh(
        isolation: isolated (any Actor)? = #isolation, _ block: @escaping ObjectBlock
    ) { run(isolation, block) { try await self.refresh() } }

    public func delete(
        isolation: isolated (any Actor)? = #isolation, _ block: @escaping ObjectBlock
    ) { run(isolation, block) { try await self.delete() } }

    private func run(
        _ isolation: isolated (any Actor)?, _ block: @escaping ObjectBlock,
        _ body: @escaping @Sendable () async throws -> Void
    ) {
        start(isolation, body) { result in block(self, result.failure) }
    }
}

extension Bucket {
    public typealias QueryBlock =
        (KiiQuery?, KiiBucket, [Any]?, KiiQuery?, (any Error)?) -> Void
    public typealias CountBlock = (KiiBucket, KiiQuery?, UInt, (any Error)?) -> Void
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

    public func count(
        isolation: isolated (any Actor)? = #isolation, _ block: @escaping CountBlock
    ) { count(with: BucketQuery(), isolation: isolation, block) }

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
