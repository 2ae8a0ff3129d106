import SpatialIndex

/// The ids of a bucket's slots, in the order of slots: appended and never changed, so that a copy
/// shares what was there before.
///
/// Ids sit in blocks of 256, one behind the other, with the offset of each: the ids' own bytes and
/// some two bytes each. A full block is cut to what it needs.
///
/// - Note: Writers are in turn: of several copies one at a time appends. Readers of copies need no
///   lock, as they never look behind their own count.
struct IDList: Sendable {
    /// Blocks of 256 ids under pages of 128 blocks; only the last of each is not full.
    private var pages: [[IDBlock]] = []
    private(set) var count = 0
    /// What the list occupies, in bytes, as if it shared nothing with its copies.
    private(set) var memoryBytes = 0

    /// An id, valid as long as this list or a copy of it.
    subscript(slot: Slot) -> UnsafeBufferPointer<UInt8> {
        precondition(slot < count, "slot \(slot) of \(count)")
        return pages[Int(slot >> 15)][Int(slot >> 8 & 127)].id(Int(slot & 255))
    }

    mutating func append(_ id: UnsafeBufferPointer<UInt8>) {
        let (page, place) = (count >> 15, count & 255)
        if place == 0 {
            if page == pages.count { pages.append([]) }
            // Small buckets stay small.
            let ids = count == 0 ? 4 : 256
            let block = IDBlock(ids: ids, bytes: ids * id.count)
            pages[page].append(block)
            memoryBytes += block.memoryBytes
        }
        let last = pages[page].count - 1
        if !pages[page][last].append(id, at: place) {
            let bytes = pages[page][last].end(of: place)
            replace(
                page, last, keeping: place, ids: min(256, place + max(1, place / 2)),
                bytes: bytes + max(id.count, bytes / 2))
            _ = pages[page][last].append(id, at: place)
        }
        if place == 255 {
            replace(
                page, last, keeping: 256, ids: 256, bytes: pages[page][last].end(of: 256))
        }
        count += 1
    }

    /// Cuts the last block to what it needs.
    mutating func trim() {
        let (page, place) = (count >> 15, count & 255)
        guard place > 0 else { return }
        let last = pages[page].count - 1
        replace(
            page, last, keeping: place, ids: place, bytes: pages[page][last].end(of: place))
    }

    /// Puts a block of another size, with the same first ids, in the place of one.
    private mutating func replace(
        _ page: Int, _ block: Int, keeping kept: Int, ids: Int, bytes: Int
    ) {
        let old = pages[page][block]
        let fresh = IDBlock(ids: ids, bytes: bytes)
        fresh.copy(old, ids: kept)
        pages[page][block] = fresh
        memoryBytes += fresh.memoryBytes - old.memoryBytes
    }
}

/// Up to 256 ids: the offsets of their ends, then their bytes.
///
/// `@unchecked Sendable`: what is before `count` is never written again. A list appends only behind
/// the end that it and the block agree on, one writer at a time.
private final class IDBlock: @unchecked Sendable {
    private let memory: UnsafeMutableRawPointer
    private let idCapacity: Int
    private let byteCapacity: Int
    private var count = 0

    init(ids: Int, bytes: Int) {
        idCapacity = ids
        byteCapacity = bytes
        memory = .allocate(byteCount: ids * 2 + bytes, alignment: 2)
    }

    deinit { memory.deallocate() }

    /// With what malloc keeps beside both allocations.
    var memoryBytes: Int { 72 + idCapacity * 2 + byteCapacity }

    private var bytes: UnsafeMutableRawPointer { memory + idCapacity * 2 }

    /// Where the first ids end.
    func end(of ids: Int) -> Int {
        ids == 0 ? 0 : Int(memory.load(fromByteOffset: ids * 2 - 2, as: UInt16.self))
    }

    func id(_ place: Int) -> UnsafeBufferPointer<UInt8> {
        let start = end(of: place)
        return UnsafeBufferPointer(
            start: (bytes + start).assumingMemoryBound(to: UInt8.self),
            count: end(of: place + 1) - start)
    }

    /// False, with nothing written, when there is no room or another list has appended here.
    func append(_ id: UnsafeBufferPointer<UInt8>, at place: Int) -> Bool {
        precondition(id.count < 256, "an id of \(id.count) bytes")
        let start = end(of: place)
        guard place == count, place < idCapacity, start + id.count <= byteCapacity else {
            return false
        }
        (bytes + start).copyMemory(from: UnsafeRawPointer(id.baseAddress!), byteCount: id.count)
        memory.storeBytes(
            of: UInt16(start + id.count), toByteOffset: place * 2, as: UInt16.self)
        count += 1
        return true
    }

    /// Takes over the first ids of another block.
    func copy(_ other: IDBlock, ids: Int) {
        memory.copyMemory(from: other.memory, byteCount: ids * 2)
        bytes.copyMemory(from: other.bytes, byteCount: other.end(of: ids))
        count = ids
    }
}
