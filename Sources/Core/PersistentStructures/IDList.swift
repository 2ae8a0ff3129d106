import CGlibc

/// The ids of a bucket's slots, in the order of slots: appended and never changed, so that a copy
/// shares what was there before.
///
/// Ids sit in blocks of 256, one behind the other, with the offset of each: the ids' own bytes and
/// some two bytes each. A full block is cut to what it needs: without offsets if its ids are as long
/// as one another, as those that the service makes are.
///
/// - Note: Writers are in turn: of several copies one at a time appends. Readers of copies need no
///   lock, as they never look behind their own count.
@usableFromInline
struct IDList: Sendable {
    /// Blocks of 256 ids under pages of 128 blocks; only the last of each is not full.
    private var pages: [[IDBlock]] = []
    /// Where the blocks' ids are, if they are several: the way to an id counts no references.
    private var contents = PersistentArray<IDBlock.Contents>()
    private(set) var count = 0
    private var blockBytes = 0

    /// What the list occupies, in bytes, as if it shared nothing with its copies.
    var memoryBytes: Int { blockBytes + contents.memoryBytes }

    /// The id of a slot.
    subscript(slot: Slot) -> Bytes {
        precondition(slot < count, "slot \(slot) of \(count)")
        let block = contents.isEmpty ? pages[0][0].contents : contents[Int(slot >> 8)]
        return block.id(Int(slot & 255))
    }

    /// The ids of some slots, asked for, for all of them, before the first is read, as they lie far
    /// apart.
    @usableFromInline
    func ids(of slots: [Slot]) -> [Bytes] {
        slots.map { slot in
            let id = self[slot]
            id.prefetchEnds()
            return id
        }
    }

    /// Asks for where the ids of some slots are, which takes `ids(of:)` a while to come by.
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
            // Small buckets stay small.
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

    /// Cuts the last block to what it needs.
    mutating func trim() {
        let (page, position) = (count >> 15, count & 255)
        guard position > 0 else { return }
        let last = pages[page].count - 1
        let block = pages[page][last]
        replace(
            page, last,
            IDBlock(block, keeping: position, ids: position, bytes: block.bytes(of: position)))
    }

    /// Puts a block with the same ids in the place of the last one.
    private mutating func replace(_ page: Int, _ block: Int, _ fresh: IDBlock) {
        blockBytes += fresh.memoryBytes - pages[page][block].memoryBytes
        pages[page][block] = fresh
        if !contents.isEmpty { contents[contents.count - 1] = fresh.contents }
    }
}

/// Up to 256 ids: the offsets at which they start and the last one ends, then their bytes. Ids as long
/// as one another, in a full block, need no offsets.
///
/// `@unchecked Sendable`: what is before `count` is never written again. A list appends only behind
/// the end that it and the block agree on, one writer at a time.
private final class IDBlock: @unchecked Sendable {
    let contents: Contents
    private let idCapacity: Int
    private let byteCapacity: Int
    private var count = 0

    /// What a block holds, valid as long as the block.
    struct Contents: BitwiseCopyable, @unchecked Sendable {
        fileprivate let memory: UnsafeMutableRawPointer
        /// The length of each id, if they are as long as one another and stand there alone; else 0.
        fileprivate let length: Int

        /// How far behind the beginning an id starts, and the one before it ends.
        fileprivate func start(_ position: Int) -> Int {
            Int(memory.load(fromByteOffset: position * 2, as: UInt16.self))
        }

        func id(_ position: Int) -> Bytes {
            let start = length > 0 ? position * length : start(position)
            return Bytes(
                start: (memory + start).assumingMemoryBound(to: UInt8.self),
                count: length > 0 ? length : self.start(position + 1) - start)
        }

        /// Asks for what `id` looks at: the id itself, or where it is.
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

    /// A block with other room and the first ids of another.
    convenience init(_ other: IDBlock, keeping kept: Int, ids: Int, bytes: Int) {
        self.init(ids: ids, bytes: bytes)
        let shift = Self.directoryBytes(ids) - Self.directoryBytes(other.idCapacity)
        for position in 0...kept { setStart(position, other.contents.start(position) + shift) }
        (contents.memory + contents.start(0)).copyMemory(
            from: other.contents.memory + other.contents.start(0), byteCount: other.bytes(of: kept))
        count = kept
    }

    /// A block of the ids of a full one, which are as long as one another.
    private init(_ full: IDBlock, length: Int) {
        (idCapacity, byteCapacity, count) = (0, full.count * length, full.count)
        let memory = UnsafeMutableRawPointer.allocate(byteCount: byteCapacity, alignment: 2)
        memory.copyMemory(
            from: full.contents.memory + full.contents.start(0), byteCount: byteCapacity)
        contents = Contents(memory: memory, length: length)
    }

    /// The ids of a full block in no more memory than they need.
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

    /// With what malloc keeps beside both allocations.
    var memoryBytes: Int {
        72 + (contents.length > 0 ? 0 : Self.directoryBytes(idCapacity)) + byteCapacity
    }

    /// How many bytes the first ids take.
    func bytes(of ids: Int) -> Int { contents.start(ids) - Self.directoryBytes(idCapacity) }

    /// False, with nothing written, when there is no room or another list has appended here.
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
    /// Asks for the lines of memory that a short text begins and ends in.
    fileprivate func prefetchEnds() {
        gb_prefetch(baseAddress)
        gb_prefetch(baseAddress.map { $0 + count - 1 })
    }
}
