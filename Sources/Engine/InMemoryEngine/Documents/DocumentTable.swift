import BackendContract
import CGlibc
import Glibc
import PersistentStructures

/// A part of the document cache: a hash table keyed by the changes that created the objects, with
/// open addressing and linear probing.
///
/// When the table is full, a hand visits one cell after the other and evicts the next document that
/// has not been read since its last visit (the clock, or second-chance, algorithm). Its steps are
/// wide. A hand that took neighbouring cells would leave them empty behind it, while those before it
/// filled up until a search had to pass thousands of them.
///
/// The cells double when three quarters of them are taken, and halve when fewer than an eighth are,
/// so a table whose documents are gone gives their cells back.
///
/// Readers may share the table although they mark documents as read, because each mark is a
/// separate flag.
struct DocumentTable: ~Copyable {
    private let capacityBytes: Int
    private var cells: UnsafeMutablePointer<Cell>
    private var mask: Int
    private var count = 0
    private var hand = 0
    /// The bytes that the documents occupy, including their cells.
    private(set) var bytes = 0

    private struct Cell {
        /// The creation of the object; 0 if the cell is free.
        var creation: ChangeNumber = 0
        var change: ChangeNumber = 0
        var text: UnsafeMutablePointer<UInt8>?
        var length: UInt32 = 0
        var wasRead = false
    }

    /// The overhead of a document: about two cells, malloc's header and rounding, and the gaps that
    /// documents of different lengths leave behind. A million documents of 160 bytes, none of them
    /// evicted, were measured to take 108 bytes more each.
    private static let overheadBytes = 112

    /// How many documents that were read are spared before the next one is evicted nevertheless.
    /// Readers wait meanwhile, and all documents of a large table may have been read.
    private static let mostSpared = 256

    /// The number of cells of an empty table.
    static let fewestCells = 16

    /// The number of cells.
    var cellCount: Int { mask + 1 }

    init(capacityBytes: Int) {
        self.capacityBytes = capacityBytes
        mask = Self.fewestCells - 1
        cells = Self.freeCells(Self.fewestCells)
    }

    /// Memory for a number of cells, none of which crosses a cache line.
    private static func freeCells(_ count: Int) -> UnsafeMutablePointer<Cell> {
        let memory = UnsafeMutableRawPointer.allocate(
            byteCount: count * MemoryLayout<Cell>.stride, alignment: 64)
        return memory.initializeMemory(as: Cell.self, repeating: Cell(), count: count)
    }

    deinit {
        for cell in 0...mask { free(cells[cell].text) }
        cells.deallocate()
    }

    // MARK: Reading

    /// Prefetches the home cell of an object's document and the cell after it, which holds the
    /// document if the home cell is taken. Every second cell is the last of its cache line.
    func prefetch(_ creation: ChangeNumber) {
        let home = cells + home(creation)
        gb_prefetch(home)
        gb_prefetch(home + 1)
    }

    /// The document that a change wrote, if the table has it. It is marked as read.
    func find(_ creation: ChangeNumber, _ change: ChangeNumber) -> DocumentCache.Document? {
        guard let cell = cell(of: creation), cells[cell].change == change else { return nil }
        if !gb_is_set(&cells[cell].wasRead) { gb_set(&cells[cell].wasRead) }
        return document(in: cell)
    }

    /// The same document without the mark: it is not kept longer.
    func peek(_ creation: ChangeNumber, _ change: ChangeNumber) -> DocumentCache.Document? {
        guard let cell = cell(of: creation), cells[cell].change == change else { return nil }
        return document(in: cell)
    }

    private func document(in cell: Int) -> DocumentCache.Document {
        DocumentCache.Document(start: cells[cell].text, count: Int(cells[cell].length))
    }

    private func home(_ creation: ChangeNumber) -> Int {
        Int(truncatingIfNeeded: (creation &* 0x9E37_79B9_7F4A_7C15) >> 20) & mask
    }

    private func cell(of creation: ChangeNumber) -> Int? {
        var cell = home(creation)
        while cells[cell].creation != creation {
            if cells[cell].creation == 0 { return nil }
            cell = (cell + 1) & mask
        }
        return cell
    }

    // MARK: Writing

    /// Takes ownership of a document in malloc's memory, unless the document is too large or not
    /// the latest.
    ///
    /// - Returns: whether the table has taken the document.
    mutating func take(
        _ document: DocumentCache.Document, _ creation: ChangeNumber, _ change: ChangeNumber
    ) -> Bool {
        let size = document.count + Self.overheadBytes
        guard size <= capacityBytes else {
            remove(creation)
            return false
        }
        if let old = cell(of: creation) {
            // A slow reader must not restore a document that a writer has replaced.
            guard cells[old].change < change else { return false }
            clear(old)
        }
        if (count + 1) * 4 > cellCount * 3 { resize(to: cellCount * 2) }
        while bytes + size > capacityBytes { evictOne() }
        position(
            Cell(
                creation: creation, change: change,
                text: UnsafeMutablePointer(mutating: document.baseAddress),
                length: UInt32(document.count)))
        count += 1
        bytes += size
        shrinkIfSparse()
        return true
    }

    mutating func remove(_ creation: ChangeNumber) {
        guard let cell = cell(of: creation) else { return }
        clear(cell)
        shrinkIfSparse()
    }

    private func position(_ new: Cell) {
        var cell = home(new.creation)
        while cells[cell].creation != 0 { cell = (cell + 1) & mask }
        cells[cell] = new
    }

    /// Frees a cell and closes the gap, so that every other document can still be found from its
    /// home cell.
    private mutating func clear(_ cell: Int) {
        count -= 1
        bytes -= Int(cells[cell].length) + Self.overheadBytes
        free(cells[cell].text)
        var gap = cell
        var next = (cell + 1) & mask
        while cells[next].creation != 0 {
            let distance = (next &- home(cells[next].creation)) & mask
            if distance >= (next &- gap) & mask {
                cells[gap] = cells[next]
                gap = next
            }
            next = (next + 1) & mask
        }
        cells[gap] = Cell()
    }

    private mutating func evictOne() {
        // Odd, so that the hand comes to every cell. The golden section of the table, so that it is
        // evenly spread after any number of steps: by a simple fraction such as 8/13 it would sweep
        // 13 parts of the table cell by cell.
        let step = (cellCount * 0x9E37_79B9) >> 32 | 1
        var spared = 0
        while true {
            let cell = hand
            hand = (hand + step) & mask
            guard cells[cell].creation != 0 else { continue }
            if !cells[cell].wasRead || spared == Self.mostSpared { return clear(cell) }
            cells[cell].wasRead = false
            spared += 1
        }
    }

    /// The most neighbouring cells that are all taken. No search passes more.
    var longestRun: Int {
        PersistentStructures.longestRun(of: cellCount) { cells[$0].creation != 0 }
    }

    private mutating func shrinkIfSparse() {
        if cellCount > Self.fewestCells, count * 8 < cellCount { resize(to: cellCount / 2) }
    }

    private mutating func resize(to newCount: Int) {
        let (old, oldCount) = (cells, cellCount)
        mask = newCount - 1
        cells = Self.freeCells(newCount)
        for cell in 0..<oldCount where old[cell].creation != 0 { position(old[cell]) }
        old.deallocate()
        hand = 0
    }
}

extension DocumentCache.Document {
    /// Prefetches the first cache lines of a document.
    func prefetch() {
        guard let base = baseAddress else { return }
        let first = Swift.min(count, 512)
        for offset in stride(from: 0, to: first, by: 64) { gb_prefetch(base + offset) }
        gb_prefetch(base + first - 1)
    }
}

/// POSIX's reader-writer lock.
///
/// `@unchecked Sendable`: the lock is made for use by many threads and keeps its address.
final class ReadWriteLock: @unchecked Sendable {
    private let lock = UnsafeMutablePointer<pthread_rwlock_t>.allocate(capacity: 1)

    init() { precondition(pthread_rwlock_init(lock, nil) == 0) }

    deinit {
        pthread_rwlock_destroy(lock)
        lock.deallocate()
    }

    func reading<Result>(_ body: () -> Result) -> Result {
        precondition(pthread_rwlock_rdlock(lock) == 0)
        defer { pthread_rwlock_unlock(lock) }
        return body()
    }

    func writing<Result>(_ body: () -> Result) -> Result {
        precondition(pthread_rwlock_wrlock(lock) == 0)
        defer { pthread_rwlock_unlock(lock) }
        return body()
    }
}
