import GeoBucketClient

// The forms that return at once and call a block when they are done, on a thread of the runtime's.

extension GeoObject {
    public typealias ObjectBlock = @Sendable (KiiObject?, (any Error)?) -> Void

    public func save(_ block: @escaping ObjectBlock) { run(block) { try await self.save() } }

    public func save(_ forced: Bool, with block: @escaping ObjectBlock) {
        run(block) { try await self.save(forced: forced) }
    }

    public func saveAllFields(_ forced: Bool, with block: @escaping ObjectBlock) {
        run(block) { try await self.saveAllFields(forced: forced) }
    }

    public func refresh(_ block: @escaping ObjectBlock) { run(block) { try await self.refresh() } }

    public func delete(_ block: @escaping ObjectBlock) { run(block) { try await self.delete() } }

    private func run(
        _ block: @escaping ObjectBlock, _ body: @escaping @Sendable () async throws -> Void
    ) {
        Task {
            do {
                try await body()
                block(self, nil)
            } catch {
                block(self, error)
            }
        }
    }
}

extension Bucket {
    public typealias QueryBlock =
        @Sendable (KiiQuery?, KiiBucket, [Any]?, KiiQuery?, (any Error)?) -> Void
    public typealias CountBlock = @Sendable (KiiBucket?, KiiQuery?, UInt, (any Error)?) -> Void

    /// One page: the query, the bucket, the objects, the query for the next page, the error.
    public func execute(_ query: BucketQuery, with block: @escaping QueryBlock) {
        let asked = query.copy()
        Task {
            do {
                let result = try await self.execute(asked)
                block(query, self, result.objects, result.nextQuery, nil)
            } catch {
                block(query, self, nil, nil, error)
            }
        }
    }

    public func count(_ block: @escaping CountBlock) { count(with: BucketQuery(), block) }

    public func count(with query: BucketQuery, _ block: @escaping CountBlock) {
        let asked = query.copy()
        Task {
            do {
                block(self, query, UInt(try await self.count(asked)), nil)
            } catch {
                block(self, query, 0, error)
            }
        }
    }

    public func delete(_ block: @escaping @Sendable (KiiBucket, (any Error)?) -> Void) {
        Task {
            do {
                _ = try await self.delete() as Int
                block(self, nil)
            } catch {
                block(self, error)
            }
        }
    }
}
