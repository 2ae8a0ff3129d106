import CGlibc

/// The ids of a bucket's slots, in the order of slots. The list is append-only, so a copy shares
/// all earlier ids.
///
/// Ids are stored consecutively in blocks of 256, with the offset of each. An id takes its own
/// bytes and about two more. A full block is trimmed to its contents. If all its ids have the same
/// length, as ids made by the service have, it needs no offsets.
///
/// - Note: Only one copy at a time may append. Readers of copies need no lock, because they never
///   read beyond their own count.
@usableFromInline
struct IDList: Sendable {
    /// Blocks of 256 ids in pages of 128 blocks. Only the last block and the last page are not
    /// full.
    private var pages: [[IDBlock]] = []
    /// The contents of the blocks, if there are several. Access to an id then retains no
    /// references.
    private var contents = PersistentArray<IDBlock.Contents>()
    private(set) var count = 0
    private var blockBytes = 0

    /// The memory of the list in bytes, as if it shared nothing with its copies.
    var memoryBytes: Int { blockBytes + contents.memoryBytes }

    /// The id of a slot.
    subscript(slot: Slot) -> Bytes {
        precondition(slot < count, "slot \(slot) of \(count)")
        let block = contents.isEmpty ? pages[0][0].contents : contents[Int(slot >> 8)]
        return block.id(Int(slot & 255))
    }

    /// The ids of some slots. Because the ids are scattered in memory, all of them are prefetched
    /// before the first is read.
    @usableFromInline
    func ids(of slots: [Slot]) -> [Bytes] {
        slots.map { slot in
            let id = self[slot]
            id.prefetchEnds()
            return id
        }
    }

    /// Prefetches the locations of the ids of some slots, some time before `ids(of:)` needs them.
    @usableFromInline
    func prefetch(_ slots: UnsafeBufferPointer<Slot>) {
        guard !contents.isEmpty else { return }
        for slot in slots {
            contents[Int(slot >> 8)].prefetch(Int(slot & 255))
        }
    }

    mutating func append(_ id: Bytes) {
        let (page, position) = (count >> 15, count & 255)
        if position == 0 {
            if page == pages.count { pages.append([]) }
            // The first block of a small bucket is small.
            let ids = count == 0 ? 4 : 256
            let block = IDBlock(ids: ids, bytes: ids * id.count)
            pages[page].append(block)
            if count == 256 { contents.append(pages[0][0].contents) }
            if count > 0 { contents.append(block.contents) }
            blockBytes += block.memoryBytes
        }
        let last = pages[page].count - 1
        if !pages[page][last].append(id, at: position) {
            let bytes = pages[page][last].bytes(of: position)
            let larger = IDBlock(
                pages[page][last], keeping: position,
                ids: min(256, position + max(1, position / 2)),
                bytes: bytes + max(id.count, bytes / 2))
            replace(page, last, larger)
            _ = pages[page][last].append(id, at: position)
        }
        if position == 255 { replace(page, last, pages[page][last].packed) }
        count += 1
    }

    /// Trims the last block to its contents.
    mutating func trim() {
        let (page, position) = (count >> 15, count & 255)
        guard position > 0 else { return }
        let last = pages[page].count - 1
        let block = pages[page][last]
        replace(
            page, last,
            IDBlock(block, keeping: position, ids: position, bytes: block.bytes(of: position)))
    }

    /// Replaces the last block by a block with the same ids.
    private mutating func replace(_ page: Int, _ block: Int, _ fresh: IDBlock) {
        blockBytes += fresh.memoryBytes - pages[page][block].memoryBytes
        pages[page][block] = fresh
        if !contents.isEmpty { contents[contents.count - 1] = fresh.contents }
    }
}

/// Up to 256 ids: the offset of each, the end of the last, and then their bytes. A full block of
/// ids with the same length needs no offsets.
///
/// `@unchecked Sendable`: ids before `count` are never written again. A list appends only if its
/// end is the block's end, and there is one writer at a time.
private final class IDBlock: @unchecked Sendable {
    let contents: Contents
    private let idCapacity: Int
    private let byteCapacity: Int
    private var count = 0

    /// The contents of a block, valid as long as the block exists.
    struct Contents: BitwiseCopyable, @unchecked Sendable {
        fileprivate let memory: UnsafeMutableRawPointer
        /// The common length of all ids in a block without offsets; otherwise 0.
        fileprivate let length: Int

        /// The offset at which an id starts and the previous one ends.
        fileprivate func start(_ position: Int) -> Int {
            Int(memory.load(fromByteOffset: position * 2, as: UInt16.self))
        }

        func id(_ position: Int) -> Bytes {
            let start = length > 0 ? position * length : start(position)
            return Bytes(
                start: (memory + start).assumingMemoryBound(to: UInt8.self),
                count: length > 0 ? length : self.start(position + 1) - start)
        }

        /// Prefetches what `id` reads: the id itself, or its offset.
        func prefetch(_ position: Int) {
            if length > 0 {
                id(position).prefetchEnds()
            } else {
                gb_prefetch(memory + position * 2)
            }
        }
    }

    init(ids: Int, bytes: Int) {
        idCapacity = ids
        byteCapacity = bytes
        contents = Contents(
            memory: .allocate(byteCount: Self.directoryBytes(ids) + bytes, alignment: 2),
            length: 0)
        setStart(0, Self.directoryBytes(ids))
    }

    /// A block with a different capacity and the first ids of another block.
    convenience init(_ other: IDBlock, keeping kept: Int, ids: Int, bytes: Int) {
        self.init(ids: ids, bytes: bytes)
        let shift = Self.directoryBytes(ids) - Self.directoryBytes(other.idCapacity)
        for position in 0...kept { setStart(position, other.contents.start(position) + shift) }
        (contents.memory + contents.start(0)).copyMemory(
            from: other.contents.memory + other.contents.start(0), byteCount: other.bytes(of: kept))
        count = kept
    }

    /// A block with the ids of a full block, all of which have the same length.
    private init(_ full: IDBlock, length: Int) {
        (idCapacity, byteCapacity, count) = (0, full.count * length, full.count)
        let memory = UnsafeMutableRawPointer.allocate(byteCount: byteCapacity, alignment: 2)
        memory.copyMemory(
            from: full.contents.memory + full.contents.start(0), byteCount: byteCapacity)
        contents = Contents(memory: memory, length: length)
    }

    /// The ids of a full block in the least memory.
    var packed: IDBlock {
        let length = contents.id(0).count
        let areAlike = (0..<count).allSatisfy { contents.id($0).count == length }
        return areAlike
            ? IDBlock(self, length: length)
            : IDBlock(self, keeping: count, ids: count, bytes: bytes(of: count))
    }

    deinit { contents.memory.deallocate() }

    private static func directoryBytes(_ ids: Int) -> Int { ids * 2 + 2 }

    private func setStart(_ position: Int, _ offset: Int) {
        contents.memory.storeBytes(of: UInt16(offset), toByteOffset: position * 2, as: UInt16.self)
    }

    /// The memory of the block in bytes, including malloc's overhead for both allocations.
    var memoryBytes: Int {
        72 + (contents.length > 0 ? 0 : Self.directoryBytes(idCapacity)) + byteCapacity
    }

    /// The number of bytes of the first ids.
    func bytes(of ids: Int) -> Int { contents.start(ids) - Self.directoryBytes(idCapacity) }

    /// Appends an id. Returns false, and writes nothing, if there is no room or another list has
    /// appended to this block.
    func append(_ id: Bytes, at position: Int) -> Bool {
        precondition(id.count <= 240, "an id of \(id.count) bytes")
        guard position == count, position < idCapacity,
            bytes(of: position) + id.count <= byteCapacity
        else { return false }
        let start = contents.start(position)
        (contents.memory + start).copyMemory(
            from: UnsafeRawPointer(id.baseAddress!), byteCount: id.count)
        setStart(position + 1, start + id.count)
        count += 1
        return true
    }
}

extension Bytes {
    /// Prefetches the cache lines in which a short text begins and ends.
    fileprivate func prefetchEnds() {
        gb_prefetch(baseAddress)
        gb_prefetch(baseAddress.map { $0 + count - 1 })
    }
}
