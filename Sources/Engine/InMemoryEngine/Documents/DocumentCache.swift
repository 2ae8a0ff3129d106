import BackendContract
import Glibc
import JSONText

/// A cache of documents, as clients read them, limited to a number of bytes.
///
/// It has sixteen tables, so that the growth of one table moves only a sixteenth of the documents.
/// One lock protects all of them and readers share it, because a page needs all tables.
///
/// `@unchecked Sendable`: the tables are read under the shared lock and changed under the exclusive
/// one.
final class DocumentCache: @unchecked Sendable {
    private let lock = ReadWriteLock()
    private let tables: UnsafeMutablePointer<DocumentTable>
    private static let tableCount = 16

    /// A document in the cache, valid while the lock under which it was found is held.
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

    /// A copy of the document that a change wrote; nil if it is not cached.
    func document(creation: ChangeNumber, change: ChangeNumber) -> [UInt8]? {
        lock.reading { table(creation).pointee.find(creation, change).map { Array($0) } }
    }

    /// Calls `body` with the documents of some records, nil for those that are not cached. The
    /// documents stay in place until `body` returns. `body` must not wait and must not write to the
    /// cache.
    ///
    /// The tables and documents are scattered in memory, so each step prefetches its data for all
    /// documents before it reads any of them.
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

    /// The number of documents that are not cached, at most one more than `few`, and the bytes of the
    /// others. These are prefetched, because `withDocuments` probably follows.
    func holdings(of records: [BucketState.SlotRecord], few: Int) -> (missing: Int, bytes: Int) {
        lock.reading {
            for record in records { table(record.creation).pointee.prefetch(record.creation) }
            var (missing, bytes) = (0, 0)
            for record in records {
                let document = table(record.creation).pointee.peek(record.creation, record.change)
                document?.prefetch()
                bytes += document?.count ?? 0
                if document == nil { missing += 1 }
                if missing > few { break }
            }
            return (missing, bytes)
        }
    }

    /// A document on its way into the cache, in malloc's memory, which belongs to it.
    struct NewDocument {
        fileprivate let text: UnsafeMutableBufferPointer<UInt8>
        fileprivate let creation: ChangeNumber
        fileprivate let change: ChangeNumber

        init(_ text: consuming JSONWriter, creation: ChangeNumber, change: ChangeNumber) {
            self.text = text.release()
            (self.creation, self.change) = (creation, change)
        }
    }

    /// Stores documents, in their order, in the memory in which they were written.
    ///
    /// Readers wait meanwhile, so there should be few. The cells of all are fetched together.
    func put(_ documents: [NewDocument]) {
        guard !documents.isEmpty else { return }
        lock.writing {
            for document in documents {
                table(document.creation).pointee.prefetch(document.creation)
            }
            for document in documents {
                let isTaken = table(document.creation).pointee.take(
                    Document(document.text), document.creation, document.change)
                if !isTaken { free(document.text.baseAddress) }
            }
        }
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
