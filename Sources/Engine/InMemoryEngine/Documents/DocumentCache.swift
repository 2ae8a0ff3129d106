import Backend
import Glibc
import JSONText

/// Documents as clients read them, in memory up to a number of bytes.
///
/// Sixteen tables, of which a growing one moves a sixteenth of the documents, under one lock that
/// readers share: a page needs them all.
///
/// `@unchecked Sendable`: the tables are read under the shared and changed under the exclusive lock.
final class DocumentCache: @unchecked Sendable {
    private let lock = ReadWriteLock()
    private let tables: UnsafeMutablePointer<DocumentTable>
    private static let tableCount = 16

    /// A document in the cache, valid as long as the lock under which it was found.
    typealias Document = UnsafeBufferPointer<UInt8>

    init(capacityBytes: Int) {
        tables = .allocate(capacity: Self.tableCount)
        for number in 0..<Self.tableCount {
            (tables + number).initialize(
                to: DocumentTable(capacityBytes: capacityBytes / Self.tableCount))
        }
    }

    deinit {
        tables.deinitialize(count: Self.tableCount)
        tables.deallocate()
    }

    /// A copy of the document that a change wrote, if it is here.
    func document(creation: ChangeNumber, change: ChangeNumber) -> [UInt8]? {
        lock.reading { table(creation).pointee.find(creation, change).map { Array($0) } }
    }

    /// Calls `body` with the documents of some records, nil for those that are not here, all of them
    /// held in place until it returns: it must not wait and must not write to the cache.
    ///
    /// The tables and the documents are spread over memory, so each step is asked for, for all of
    /// them, before it is taken.
    func withDocuments<Result>(
        of records: [BucketState.SlotRecord], _ body: ([Document?]) -> Result
    ) -> Result {
        lock.reading {
            for record in records { table(record.creation).pointee.prefetch(record.creation) }
            let found = records.map { record -> Document? in
                let document = table(record.creation).pointee.find(record.creation, record.change)
                document?.prefetch()
                return document
            }
            return body(found)
        }
    }

    /// Whether more than so many of some documents are not here.
    func lacks(moreThan few: Int, of records: [BucketState.SlotRecord]) -> Bool {
        guard records.count > few else { return false }
        return lock.reading {
            for record in records { table(record.creation).pointee.prefetch(record.creation) }
            var missing = 0
            for record in records
            where table(record.creation).pointee.find(record.creation, record.change) == nil {
                missing += 1
                if missing > few { return true }
            }
            return false
        }
    }

    /// Keeps a document where it has been written.
    func put(_ document: consuming JSONWriter, creation: ChangeNumber, change: ChangeNumber) {
        let text = document.release()
        let isTaken = lock.writing {
            table(creation).pointee.take(Document(text), creation, change)
        }
        if !isTaken { free(text.baseAddress) }
    }

    func remove(creation: ChangeNumber) {
        lock.writing { table(creation).pointee.remove(creation) }
    }

    var bytes: Int {
        lock.reading { (0..<Self.tableCount).reduce(0) { $0 + tables[$1].bytes } }
    }

    private func table(_ creation: ChangeNumber) -> UnsafeMutablePointer<DocumentTable> {
        tables + Int(truncatingIfNeeded: creation) & (Self.tableCount - 1)
    }
}
