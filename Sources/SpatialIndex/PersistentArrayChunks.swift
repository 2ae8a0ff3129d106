/// The sizes of a persistent array's chunks and pages; powers of two, so that an index splits by
/// shifting.
@usableFromInline
enum ChunkShape {
    @inlinable static var elementShift: Int { 8 }
    @inlinable static var elements: Int { 256 }
    @inlinable static var elementMask: Int { 255 }
    @inlinable static var chunksPerPage: Int { 128 }
    @inlinable static var chunkMask: Int { 127 }
    @inlinable static var pageShift: Int { 15 }

    /// The capacity of an array's only chunk: 8, 16, … 256.
    static func capacity(for count: Int) -> Int {
        var capacity = 8
        while capacity < count { capacity *= 2 }
        return capacity
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

    private let capacity: Int

    @usableFromInline
    init(_ chunks: ContiguousArray<Chunk<Element>>) {
        self.chunks = chunks
        capacity = chunks.count < 4 ? 4 : ChunkShape.chunksPerPage
        addresses = .allocate(capacity: capacity)
        for (place, chunk) in chunks.enumerated() {
            (addresses + place).initialize(to: chunk.elements)
        }
    }

    deinit { addresses.deallocate() }

    /// The start of the chunk that holds the element of this index in the whole array.
    @inlinable
    func chunk(at index: Int) -> UnsafeMutablePointer<Element> {
        addresses[(index >> ChunkShape.elementShift) & ChunkShape.chunkMask]
    }

    /// The chunk, copied if another page shares it.
    @inlinable
    func writableChunk(_ place: Int) -> Chunk<Element> {
        if !isKnownUniquelyReferenced(&chunks[place]) {
            let old = chunks[place]
            replace(place, with: Chunk(copying: old, capacity: old.capacity))
        }
        return chunks[place]
    }

    @usableFromInline
    func replace(_ place: Int, with chunk: Chunk<Element>) {
        chunks[place] = chunk
        addresses[place] = chunk.elements
    }

    func append(_ chunk: Chunk<Element>) {
        (addresses + chunks.count).initialize(to: chunk.elements)
        chunks.append(chunk)
    }

    /// Whether another chunk needs a larger page.
    var isFull: Bool { chunks.count == capacity }

    /// How many bytes the page takes, besides its chunks.
    var memoryBytes: Int { 112 + capacity * 8 + chunks.count * 8 }

    func keepFirst(_ count: Int) {
        chunks.removeLast(chunks.count - count)
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

    init(repeating element: Element, capacity: Int) {
        self.elements = .allocate(capacity: capacity)
        self.capacity = capacity
        elements.initialize(repeating: element, count: capacity)
    }

    @usableFromInline
    init(copying other: Chunk, capacity: Int) {
        self.elements = .allocate(capacity: capacity)
        self.capacity = capacity
        elements.initialize(from: other.elements, count: other.capacity)
        (elements + other.capacity).initialize(
            repeating: other.elements[0], count: capacity - other.capacity)
    }

    deinit { elements.deallocate() }
}
