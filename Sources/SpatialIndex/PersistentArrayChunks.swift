/// The sizes of a persistent array's chunks and pages; powers of two, so that an index splits by
/// shifting.
@usableFromInline
enum ChunkShape {
    @inlinable static var elementShift: Int { 8 }
    @inlinable static var elements: Int { 256 }
    @inlinable static var elementMask: Int { 255 }
    @inlinable static var chunksPerPage: Int { 32 }
    @inlinable static var chunkMask: Int { 31 }
    @inlinable static var pageShift: Int { 13 }

    /// The capacity of an array's only chunk when the present one is too small: half as much again.
    @inlinable
    static func capacity(for count: Int, after present: Int) -> Int {
        min(max(count, (present + present / 2 + 3) & ~3, 4), elements)
    }
}

/// A directory of chunks, and beside it their addresses, so that reading counts no references.
///
/// `@unchecked Sendable`: a page is written only by an array that holds the sole reference to it,
/// which `isKnownUniquelyReferenced` establishes before every write; shared pages are only read.
/// The addresses are those of `chunks`, in the same order, and live as long as they do.
@usableFromInline
final class ChunkPage<Element: BitwiseCopyable & Sendable>: @unchecked Sendable {
    @usableFromInline
    var chunks: ContiguousArray<Chunk<Element>>

    @usableFromInline
    let addresses: UnsafeMutablePointer<UnsafeMutablePointer<Element>>

    @usableFromInline
    let capacity: Int

    @inlinable
    init(_ chunks: ContiguousArray<Chunk<Element>>) {
        self.chunks = chunks
        capacity = chunks.count < 4 ? 4 : ChunkShape.chunksPerPage
        addresses = .allocate(capacity: capacity)
        for (place, chunk) in chunks.enumerated() {
            (addresses + place).initialize(to: chunk.elements)
        }
    }

    /// A page of the same chunks, with room for as many as a page has.
    @inlinable
    init(copying other: ChunkPage) {
        chunks = other.chunks
        capacity = other.chunks.count < 4 ? 4 : ChunkShape.chunksPerPage
        addresses = .allocate(capacity: capacity)
        addresses.initialize(from: other.addresses, count: chunks.count)
    }

    @inlinable
    deinit { addresses.deallocate() }

    /// The chunk, copied if another page shares it.
    @inlinable
    func writableChunk(_ place: Int) -> UnsafeMutableBufferPointer<Element> {
        if !isKnownUniquelyReferenced(&chunks[place]) {
            let old = chunks[place]
            replace(place, with: Chunk(copying: old))
        }
        return chunks[place].all
    }

    @inlinable
    func replace(_ place: Int, with chunk: Chunk<Element>) {
        chunks[place] = chunk
        addresses[place] = chunk.elements
    }

    @inlinable
    func append(_ chunk: Chunk<Element>) {
        (addresses + chunks.count).initialize(to: chunk.elements)
        chunks.append(chunk)
    }

    /// Whether another chunk needs a larger page.
    @inlinable
    var isFull: Bool { chunks.count == capacity }

    /// How many bytes the page takes, besides its chunks.
    var memoryBytes: Int { 112 + (capacity + chunks.capacity) * 8 }

    /// How many bytes a full page takes, besides them.
    static var fullBytes: Int { 112 + 2 * ChunkShape.chunksPerPage * 8 }

    @inlinable
    func keepFirst(_ count: Int) {
        chunks.removeLast(chunks.count - count)
    }
}

/// A page and where its addresses are: the way to an element counts no references.
@usableFromInline
struct PageReference<Element: BitwiseCopyable & Sendable>: @unchecked Sendable {
    @usableFromInline
    var page: ChunkPage<Element>

    @usableFromInline
    let addresses: UnsafeMutablePointer<UnsafeMutablePointer<Element>>

    @inlinable
    init(_ page: ChunkPage<Element>) {
        self.page = page
        addresses = page.addresses
    }

    /// The start of the chunk that holds the element of this index in the whole array.
    @inlinable
    func chunk(at index: Int) -> UnsafeMutablePointer<Element> {
        addresses[(index >> ChunkShape.elementShift) & ChunkShape.chunkMask]
    }
}

/// A run of elements, all of them initialised.
///
/// `@unchecked Sendable`: as for a page, a chunk is written only while one array alone refers to
/// it. Offsets are masked or compared with the capacity by the array that owns it.
@usableFromInline
final class Chunk<Element: BitwiseCopyable & Sendable>: @unchecked Sendable {
    @usableFromInline
    let elements: UnsafeMutablePointer<Element>
    @usableFromInline
    let capacity: Int

    @inlinable
    init(uninitialized capacity: Int) {
        elements = .allocate(capacity: capacity)
        self.capacity = capacity
    }

    @inlinable
    convenience init(repeating element: Element, capacity: Int) {
        self.init(uninitialized: capacity)
        elements.initialize(repeating: element, count: capacity)
    }

    /// The first elements of another chunk, then copies of one.
    @inlinable
    convenience init(
        copying other: Chunk, count: Int, repeating element: Element, capacity: Int
    ) {
        self.init(uninitialized: capacity)
        elements.initialize(from: other.elements, count: count)
        (elements + count).initialize(repeating: element, count: capacity - count)
    }

    @inlinable
    convenience init(copying other: Chunk) {
        self.init(uninitialized: other.capacity)
        elements.initialize(from: other.elements, count: capacity)
    }

    @inlinable
    deinit { elements.deallocate() }

    @inlinable
    var all: UnsafeMutableBufferPointer<Element> {
        UnsafeMutableBufferPointer(start: elements, count: capacity)
    }

    /// How many bytes a chunk takes with what malloc keeps beside its two blocks.
    static func memoryBytes(capacity: Int) -> Int {
        64 + capacity * MemoryLayout<Element>.stride
    }
}
