/// The sizes of a persistent array's chunks and pages. They are powers of two, so that shifts split
/// an index.
@usableFromInline
enum ChunkShape {
    @inlinable static var elementShift: Int { 8 }
    @inlinable static var elements: Int { 256 }
    @inlinable static var elementMask: Int { 255 }
    @inlinable static var chunksPerPage: Int { 32 }
    @inlinable static var chunkMask: Int { 31 }
    @inlinable static var pageShift: Int { 13 }
    /// A page that owns more chunks than this owns all of its chunks and has no origin.
    @inlinable static var ownChunks: Int { 8 }
    /// An array of at most this many bytes probably is in the processor's cache while it is read.
    @inlinable static var cachedBytes: Int { 512 * 1_024 }

    /// The capacity of an array's only chunk when the present chunk is too small: half as much
    /// again.
    @inlinable
    static func capacity(for count: Int, after present: Int) -> Int {
        min(max(count, (present + present / 2 + 3) & ~3, 4), elements)
    }
}

/// A directory of chunks.
///
/// A copy of a page does not retain the chunks that both pages have. It retains the original page,
/// its *origin*, and owns only the chunks that it changes. A copy of that copy has the same origin.
/// A page that owns more than `ChunkShape.ownChunks` chunks retains all of them and releases the
/// origin. A write through a copy therefore updates a few reference counts instead of one for each
/// chunk, all scattered in memory. The cost is that some unneeded chunks of an origin stay alive,
/// at most as many as the page owns.
///
/// A page is written only by an array that holds the sole reference to it, which
/// `isKnownUniquelyReferenced` establishes before every write. Shared pages, which include all
/// origins, are only read.
@usableFromInline
final class ChunkPage<Element: BitwiseCopyable & Sendable>:
    ManagedBuffer<PageHeader<Element>, Unmanaged<Chunk<Element>>>
{
    @usableFromInline
    typealias Position = UnsafeMutablePointer<Unmanaged<Chunk<Element>>>

    /// A page with some chunks. A page of few chunks has a small capacity.
    @inlinable
    static func make(_ chunks: some Collection<Chunk<Element>>) -> ChunkPage {
        let page = make(
            PageHeader(capacity: chunks.count < 4 ? 4 : ChunkShape.chunksPerPage))
        for chunk in chunks { page.append(chunk) }
        return page
    }

    /// A page with the same chunks and full capacity.
    @inlinable
    static func make(copying other: ChunkPage) -> ChunkPage {
        let count = other.header.count
        var header = PageHeader<Element>(capacity: ChunkShape.chunksPerPage)
        header.count = count
        header.origin = other.header.origin ?? other
        if other.header.origin != nil { header.owned = other.header.owned }
        let page = make(header)
        page.chunks.initialize(from: other.chunks, count: count)
        page.forEachOwn { _ = $0.retain() }
        return page
    }

    @inlinable
    static func make(_ header: PageHeader<Element>) -> ChunkPage {
        let page = create(minimumCapacity: header.capacity) { _ in header }
        return unsafeDowncast(page, to: ChunkPage.self)
    }

    @inlinable
    deinit { forEachOwn { $0.release() } }

    @inlinable
    var chunks: Position { withUnsafeMutablePointerToElements { $0 } }

    @inlinable
    func forEachOwn(_ body: (Unmanaged<Chunk<Element>>) -> Void) {
        var left = header.owned
        while left != 0 {
            body(chunks[left.trailingZeroBitCount])
            left &= left - 1
        }
    }

    /// The chunk for writing. It is copied if another page has it too.
    @inlinable
    func writableChunk(_ position: Int) -> UnsafeMutableBufferPointer<Element> {
        let chunk = chunks + position
        let isOwn = header.owned & (1 << position) != 0
        let isSole =
            isOwn
            && UnsafeMutableRawPointer(chunk).withMemoryRebound(
                to: Chunk<Element>.self, capacity: 1
            ) { isKnownUniquelyReferenced(&$0.pointee) }
        if !isSole {
            let copy = chunk.pointee._withUnsafeGuaranteedRef { Chunk.make(copying: $0) }
            if isOwn { chunk.pointee.release() }
            own(copy, at: position)
        }
        return chunk.pointee._withUnsafeGuaranteedRef { $0.all }
    }

    @inlinable
    func append(_ chunk: Chunk<Element>) {
        own(chunk, at: header.count)
        header.count += 1
    }

    @inlinable
    func own(_ chunk: Chunk<Element>, at position: Int) {
        (chunks + position).initialize(to: .passRetained(chunk))
        header.owned |= 1 << position
        if header.origin != nil, header.owned.nonzeroBitCount > ChunkShape.ownChunks { ownAll() }
    }

    /// Retains all chunks and releases the origin.
    @inlinable
    func ownAll() {
        for position in 0..<header.count where header.owned & (1 << position) == 0 {
            _ = chunks[position].retain()
            header.owned |= 1 << position
        }
        header.origin = nil
    }

    /// Whether one more chunk needs a larger page.
    @inlinable
    var isFull: Bool { header.count == header.capacity }

    /// The memory of the page in bytes, without its chunks.
    @inlinable
    var memoryBytes: Int { 56 + header.capacity * 8 }

    /// The memory of a full page in bytes, without its chunks.
    @inlinable
    static var fullBytes: Int { 56 + ChunkShape.chunksPerPage * 8 }

    @inlinable
    func keepFirst(_ count: Int) {
        let kept = UInt32(truncatingIfNeeded: UInt64(1) << UInt64(count) - 1)
        var gone = header.owned & ~kept
        while gone != 0 {
            chunks[gone.trailingZeroBitCount].release()
            gone &= gone - 1
        }
        header.owned &= kept
        header.count = count
    }
}

/// The metadata of a page's chunks.
@usableFromInline
struct PageHeader<Element: BitwiseCopyable & Sendable> {
    /// The page that owns those chunks that this page does not own.
    @usableFromInline
    var origin: ChunkPage<Element>?
    /// A bit for each position whose chunk this page owns.
    @usableFromInline
    var owned: UInt32 = 0
    @usableFromInline
    var count = 0
    @usableFromInline
    let capacity: Int

    @inlinable
    init(capacity: Int) { self.capacity = capacity }
}

/// A page and the address of its chunks, so that finding an element retains no references.
@usableFromInline
struct PageReference<Element: BitwiseCopyable & Sendable> {
    @usableFromInline
    var page: ChunkPage<Element>

    @usableFromInline
    let chunks: ChunkPage<Element>.Position

    @inlinable
    init(_ page: ChunkPage<Element>) {
        self.page = page
        chunks = page.chunks
    }

    /// The start of the chunk that contains the element with this index in the whole array.
    @inlinable
    func chunk(at index: Int) -> UnsafeMutablePointer<Element> {
        chunks[(index >> ChunkShape.elementShift) & ChunkShape.chunkMask]
            ._withUnsafeGuaranteedRef { $0.elements }
    }
}

/// A run of initialised elements. The header is their number.
///
/// Like a page, a chunk is written only if one array alone refers to it. The owning array masks
/// offsets or compares them with the count.
@usableFromInline
final class Chunk<Element: BitwiseCopyable & Sendable>: ManagedBuffer<Int, Element> {
    @inlinable
    static func make(uninitialized count: Int) -> Chunk {
        unsafeDowncast(create(minimumCapacity: count) { _ in count }, to: Chunk.self)
    }

    @inlinable
    static func make(repeating element: Element, count: Int) -> Chunk {
        let chunk = make(uninitialized: count)
        chunk.elements.initialize(repeating: element, count: count)
        return chunk
    }

    /// A chunk with the first elements of another chunk, followed by copies of one element.
    @inlinable
    static func make(
        copying other: Chunk, first: Int, repeating element: Element, count: Int
    ) -> Chunk {
        let chunk = make(uninitialized: count)
        chunk.elements.initialize(from: other.elements, count: first)
        (chunk.elements + first).initialize(repeating: element, count: count - first)
        return chunk
    }

    @inlinable
    static func make(copying other: Chunk) -> Chunk {
        let chunk = make(uninitialized: other.header)
        chunk.elements.initialize(from: other.elements, count: other.header)
        return chunk
    }

    @inlinable
    var elements: UnsafeMutablePointer<Element> { withUnsafeMutablePointerToElements { $0 } }

    @inlinable
    var all: UnsafeMutableBufferPointer<Element> {
        UnsafeMutableBufferPointer(start: elements, count: header)
    }

    /// The memory of a chunk in bytes, including malloc's overhead.
    @inlinable
    static func memoryBytes(count: Int) -> Int {
        32 + count * MemoryLayout<Element>.stride
    }
}
