import Backend

/// Documents as clients read them, in memory up to a number of bytes.
///
/// Sixteen tables with a lock each, which readers share.
final class DocumentCache: Sendable {
    private let shards: [DocumentTable]

    /// A document in the cache, valid as long as the lock under which it was found.
    typealias Document = UnsafeBufferPointer<UInt8>

    init(capacityBytes: Int) {
        shards = (0..<16).map { _ in DocumentTable(capacityBytes: capacityBytes / 16) }
    }

    /// A copy of the document that a change wrote, if it is here.
    func document(creation: ChangeNumber, change: ChangeNumber) -> [UInt8]? {
        shard(creation).reading { $0.find(creation, change).map { Array($0) } }
    }

    /// Calls `body` with the documents of some records, nil for those that are not here, all of them
    /// held in place until it returns: it must not wait and must not write to the cache.
    ///
    /// The tables and the documents are spread over memory, so each step is asked for, for all of
    /// them, before it is taken.
    func withDocuments<Result>(
        of records: [BucketState.SlotRecord], _ body: ([Document?]) -> Result
    ) -> Result {
        for shard in shards { shard.lock.lockForReading() }
        defer { for shard in shards { shard.lock.unlock() } }
        for record in records { shard(record.creation).prefetch(record.creation) }
        let found = records.map { record -> Document? in
            let document = shard(record.creation).find(record.creation, record.change)
            document?.prefetch()
            return document
        }
        return body(found)
    }

    func put(_ document: [UInt8], creation: ChangeNumber, change: ChangeNumber) {
        shard(creation).put(document, creation, change)
    }

    func remove(creation: ChangeNumber) { shard(creation).remove(creation) }

    var bytes: Int { shards.reduce(0) { $0 + $1.reading { $0.bytes } } }

    private func shard(_ creation: ChangeNumber) -> DocumentTable { shards[Int(creation & 15)] }
}
