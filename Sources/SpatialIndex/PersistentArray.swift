/// An array whose copies share what neither has changed since.
///
///     var live = PersistentArray<UInt32>()
///     live.append(7)
///     let snapshot = live        // shares everything
///     live[0] = 8                // copies one chunk; snapshot[0] is still 7
///
/// Elements sit in chunks of 256 under pages of 128 chunks under one root. The first write through
/// a copy copies a chunk, its page and the root: n / 32,768 + 128 references and 256 elements.
/// Arrays of up to 256 elements are one small chunk that grows.
///
/// - Complexity: copying and reading are O(1); a write in place is O(1), through a copy
///   O(n / 32,768).
public struct PersistentArray<Element: BitwiseCopyable & Sendable>: Sendable {
    private var pages: ContiguousArray<Page<Element>> = []

    /// How many elements there are.
    public private(set) var count = 0

    /// An empty array; it allocates nothing.
    public init() {}

    /// Whether there is no element.
    public var isEmpty: Bool { count == 0 }

    /// The element at `index`; writing copies the chunk if a copy of the array shares it.
    public subscript(index: Int) -> Element {
        get {
            precondition(index >= 0 && index < count, "index \(index) of \(count)")
            return chunk(at: index)[index & ChunkShape.elementMask]
        }
        set {
            precondition(index >= 0 && index < count, "index \(index) of \(count)")
            writableChunk(at: index)[index & ChunkShape.elementMask] = newValue
        }
    }

    /// Adds one element at the end.
    public mutating func append(_ element: Element) {
        resize(to: count + 1, repeating: element)
    }

    /// Writes one element, first lengthening the array with `filler` if it ends before `index`.
    public mutating func set(_ index: Int, _ element: Element, fillingWith filler: Element) {
        if index >= count { resize(to: index + 1, repeating: filler) }
        self[index] = element
    }

    /// Shortens the array, or lengthens it with copies of one element. Whole new chunks of the same
    /// element are one shared chunk, so a long run of filler costs eight bytes per 256 elements.
    public mutating func resize(to newCount: Int, repeating element: Element) {
        precondition(newCount >= 0, "a count of \(newCount)")
        if newCount > count {
            fillOpenChunk(upTo: newCount, with: element)
            appendChunks(upTo: newCount, of: element)
        } else if newCount < count {
            dropChunks(downTo: newCount)
        }
        count = newCount
    }

    /// Calls `body` with each run of elements and the index of its first, in order.
    public func withChunks(
        _ body: (_ first: Int, _ elements: UnsafeBufferPointer<Element>) throws -> Void
    ) rethrows {
        var first = 0
        for page in pages {
            for chunk in page.chunks {
                let length = min(ChunkShape.elements, count - first)
                try chunk.withElements { elements in
                    try body(first, UnsafeBufferPointer(rebasing: elements[..<length]))
                }
                first += length
            }
        }
    }

    /// Calls `body` with each element, in order.
    public func forEach(_ body: (Element) throws -> Void) rethrows {
        try withChunks { _, elements in
            for element in elements { try body(element) }
        }
    }

    /// What the array occupies, in bytes, as if it shared nothing with its copies. A run of one
    /// shared filler chunk counts once per use.
    public var memoryBytes: Int {
        var bytes = pages.count * 72
        for page in pages {
            for chunk in page.chunks { bytes += 40 + chunk.capacity * MemoryLayout<Element>.stride }
        }
        return bytes
    }
}

extension PersistentArray {
    private func chunk(at index: Int) -> Chunk<Element> {
        pages[index >> ChunkShape.pageShift].chunks[
            (index >> ChunkShape.elementShift) & ChunkShape.chunkMask]
    }

    private mutating func writableChunk(at index: Int) -> Chunk<Element> {
        let page = writablePage(index >> ChunkShape.pageShift)
        let place = (index >> ChunkShape.elementShift) & ChunkShape.chunkMask
        if !isKnownUniquelyReferenced(&page.chunks[place]) {
            let old = page.chunks[place]
            page.chunks[place] = Chunk(copying: old, capacity: old.capacity)
        }
        return page.chunks[place]
    }

    private mutating func writablePage(_ place: Int) -> Page<Element> {
        if !isKnownUniquelyReferenced(&pages[place]) {
            pages[place] = Page(pages[place].chunks)
        }
        return pages[place]
    }

    // Every chunk's memory is initialised to its end, so growing inside a chunk only overwrites.
    private mutating func fillOpenChunk(upTo newCount: Int, with element: Element) {
        let used = count & ChunkShape.elementMask
        guard used != 0 else { return }
        let length = min(ChunkShape.elements - used, newCount - count)
        var chunk = writableChunk(at: count)
        if chunk.capacity < used + length {
            let page = writablePage(count >> ChunkShape.pageShift)
            let place = (count >> ChunkShape.elementShift) & ChunkShape.chunkMask
            chunk = Chunk(copying: chunk, capacity: ChunkShape.capacity(for: used + length))
            page.chunks[place] = chunk
        }
        for offset in used..<used + length { chunk[offset] = element }
    }

    private mutating func appendChunks(upTo newCount: Int, of element: Element) {
        let existing = (count + ChunkShape.elementMask) >> ChunkShape.elementShift
        let wanted = (newCount + ChunkShape.elementMask) >> ChunkShape.elementShift
        guard wanted > existing else { return }
        let capacity = wanted == 1 ? ChunkShape.capacity(for: newCount) : ChunkShape.elements
        let shared = Chunk(repeating: element, capacity: capacity)
        for number in existing..<wanted {
            let place = number >> (ChunkShape.pageShift - ChunkShape.elementShift)
            if place == pages.count { pages.append(Page([])) }
            writablePage(place).chunks.append(shared)
        }
    }

    private mutating func dropChunks(downTo newCount: Int) {
        let wanted = (newCount + ChunkShape.elementMask) >> ChunkShape.elementShift
        let wantedPages = (wanted + ChunkShape.chunkMask) / ChunkShape.chunksPerPage
        pages.removeLast(pages.count - wantedPages)
        guard wantedPages > 0 else { return }
        let page = writablePage(wantedPages - 1)
        let kept = wanted - (wantedPages - 1) * ChunkShape.chunksPerPage
        page.chunks.removeLast(page.chunks.count - kept)
    }
}

/// The sizes of chunks and pages; powers of two, so that an index splits by shifting.
private enum ChunkShape {
    static let elementShift = 8
    static let elements = 1 << elementShift
    static let elementMask = elements - 1
    static let chunksPerPage = 128
    static let chunkMask = chunksPerPage - 1
    static let pageShift = elementShift + 7

    /// The capacity of an array's only chunk: 8, 16, … 256.
    static func capacity(for count: Int) -> Int {
        var capacity = 8
        while capacity < count { capacity *= 2 }
        return capacity
    }
}

/// A directory of chunks.
///
/// `@unchecked Sendable`: a page is written only by an array that holds the sole reference to it,
/// which `isKnownUniquelyReferenced` establishes before every write; shared pages are only read.
private final class Page<Element: BitwiseCopyable & Sendable>: @unchecked Sendable {
    var chunks: ContiguousArray<Chunk<Element>>

    init(_ chunks: ContiguousArray<Chunk<Element>>) {
        self.chunks = chunks
    }
}

/// A run of elements, all of them initialised.
///
/// `@unchecked Sendable`: as for `Page`, a chunk is written only while one array alone refers to
/// it. Offsets are masked or compared with the capacity by the array that owns it.
private final class Chunk<Element: BitwiseCopyable & Sendable>: @unchecked Sendable {
    private let elements: UnsafeMutablePointer<Element>
    let capacity: Int

    init(repeating element: Element, capacity: Int) {
        self.elements = .allocate(capacity: capacity)
        self.capacity = capacity
        elements.initialize(repeating: element, count: capacity)
    }

    init(copying other: Chunk, capacity: Int) {
        self.elements = .allocate(capacity: capacity)
        self.capacity = capacity
        elements.initialize(from: other.elements, count: other.capacity)
        (elements + other.capacity).initialize(
            repeating: other.elements[0], count: capacity - other.capacity)
    }

    deinit { elements.deallocate() }

    subscript(offset: Int) -> Element {
        get { elements[offset] }
        set { elements[offset] = newValue }
    }

    func withElements<Result>(
        _ body: (UnsafeBufferPointer<Element>) throws -> Result
    ) rethrows -> Result {
        try body(UnsafeBufferPointer(start: elements, count: capacity))
    }
}
