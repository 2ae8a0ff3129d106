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
    @usableFromInline
    var pages: ContiguousArray<ChunkPage<Element>> = []

    /// How many elements there are.
    public private(set) var count = 0

    /// An empty array; it allocates nothing.
    public init() {}

    /// Whether there is no element.
    public var isEmpty: Bool { count == 0 }

    /// The element at `index`; writing copies the chunk if a copy of the array shares it.
    @inlinable
    public subscript(index: Int) -> Element {
        get {
            precondition(index >= 0 && index < count, "index out of bounds")
            return pages[index >> ChunkShape.pageShift].chunk(at: index)[
                index & ChunkShape.elementMask]
        }
        set {
            precondition(index >= 0 && index < count, "index out of bounds")
            writablePointer(at: index)[index & ChunkShape.elementMask] = newValue
        }
    }

    /// Adds one element at the end.
    public mutating func append(_ element: Element) {
        resize(to: count + 1, repeating: element)
    }

    /// Writes one element, first lengthening the array with `filler` if it ends before `index`.
    @inlinable
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
    @inlinable
    public func withChunks(
        _ body: (_ first: Int, _ elements: UnsafeBufferPointer<Element>) throws -> Void
    ) rethrows {
        var first = 0
        while first < count {
            let length = min(ChunkShape.elements, count - first)
            let page = pages[first >> ChunkShape.pageShift]
            try withExtendedLifetime(page) {
                let start = UnsafePointer(page.chunk(at: first))
                try body(first, UnsafeBufferPointer(start: start, count: length))
            }
            first += length
        }
    }

    /// Calls `body` with each element, in order.
    @inlinable
    public func forEach(_ body: (Element) throws -> Void) rethrows {
        try withChunks { _, elements in
            for element in elements { try body(element) }
        }
    }

    /// What the array occupies, in bytes, as if it shared nothing with its copies; a chunk of filler
    /// counts once per use.
    public var memoryBytes: Int {
        var bytes = pages.count * 8
        for page in pages {
            bytes += page.memoryBytes
            for chunk in page.chunks { bytes += 48 + chunk.capacity * MemoryLayout<Element>.stride }
        }
        return bytes
    }

    /// The start of the chunk of `index`, after copying whatever of the way there is shared.
    @inlinable
    mutating func writablePointer(at index: Int) -> UnsafeMutablePointer<Element> {
        writableChunk(at: index).elements
    }
}

extension PersistentArray {
    @inlinable
    mutating func writableChunk(at index: Int) -> Chunk<Element> {
        let page = writablePage(index >> ChunkShape.pageShift)
        let place = (index >> ChunkShape.elementShift) & ChunkShape.chunkMask
        return page.writableChunk(place)
    }

    @inlinable
    mutating func writablePage(_ place: Int) -> ChunkPage<Element> {
        if !isKnownUniquelyReferenced(&pages[place]) {
            pages[place] = ChunkPage(pages[place].chunks)
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
            page.replace(place, with: chunk)
        }
        (chunk.elements + used).update(repeating: element, count: length)
    }

    private mutating func appendChunks(upTo newCount: Int, of element: Element) {
        let existing = (count + ChunkShape.elementMask) >> ChunkShape.elementShift
        let wanted = (newCount + ChunkShape.elementMask) >> ChunkShape.elementShift
        guard wanted > existing else { return }
        let capacity = wanted == 1 ? ChunkShape.capacity(for: newCount) : ChunkShape.elements
        let shared = Chunk(repeating: element, capacity: capacity)
        for number in existing..<wanted {
            let place = number >> (ChunkShape.pageShift - ChunkShape.elementShift)
            if place == pages.count { pages.append(ChunkPage([])) }
            if pages[place].isFull { pages[place] = ChunkPage(pages[place].chunks) }
            writablePage(place).append(shared)
        }
    }

    private mutating func dropChunks(downTo newCount: Int) {
        let wanted = (newCount + ChunkShape.elementMask) >> ChunkShape.elementShift
        let wantedPages = (wanted + ChunkShape.chunkMask) / ChunkShape.chunksPerPage
        pages.removeLast(pages.count - wantedPages)
        guard wantedPages > 0 else { return }
        writablePage(wantedPages - 1).keepFirst(
            wanted - (wantedPages - 1) * ChunkShape.chunksPerPage)
    }
}
