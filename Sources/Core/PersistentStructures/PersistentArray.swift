import CGlibc

/// An array whose copies share all parts that neither copy has changed since.
///
///     var live = PersistentArray<UInt32>()
///     live.append(7)
///     let snapshot = live        // shares everything
///     live[0] = 8                // copies one chunk; snapshot[0] is still 7
///
/// Up to 256 elements are one chunk, which grows by half when it is full. Larger arrays have chunks
/// of 256 elements in pages of 32 chunks under one root. The first write through a copy copies one
/// chunk, its page and the root: 256 elements and n / 8,192 + 8 references.
///
/// - Complexity: copying and reading are O(1). A write is O(1) in place and O(n / 8,192) through a
///   copy.
///
/// `@unchecked Sendable`: pages and chunks are written only if one array alone refers to them.
/// Shared ones are only read.
public struct PersistentArray<Element: BitwiseCopyable & Sendable>: @unchecked Sendable {
    /// The one chunk of an array of 1 to 256 elements.
    @usableFromInline
    var only: Chunk<Element>?

    /// The chunks of an array of more than 256 elements; otherwise empty.
    @usableFromInline
    var pages: ContiguousArray<PageReference<Element>> = []

    @usableFromInline
    var length = 0

    /// The number of elements.
    @inlinable
    public var count: Int { length }

    /// An empty array. It allocates nothing.
    public init() {}

    /// An array of `count` elements; `fill` initialises each of its chunks, given the index of the
    /// chunk's first element.
    @inlinable
    public init(
        count: Int, _ fill: (_ first: Int, _ elements: UnsafeMutableBufferPointer<Element>) -> Void
    ) {
        precondition(count >= 0, "a count of \(count)")
        length = count
        var chunks = ContiguousArray<Chunk<Element>>()
        for first in stride(from: 0, to: count, by: ChunkShape.elements) {
            let length = Swift.min(ChunkShape.elements, count - first)
            let capacity = count <= ChunkShape.elements ? count : ChunkShape.elements
            let chunk = Chunk<Element>.make(uninitialized: capacity)
            fill(first, UnsafeMutableBufferPointer(start: chunk.elements, count: length))
            (chunk.elements + length).initialize(
                repeating: chunk.elements[0], count: capacity - length)
            chunks.append(chunk)
        }
        if chunks.count <= 1 {
            only = chunks.first
        } else {
            for first in stride(from: 0, to: chunks.count, by: ChunkShape.chunksPerPage) {
                let end = Swift.min(first + ChunkShape.chunksPerPage, chunks.count)
                pages.append(PageReference(ChunkPage.make(chunks[first..<end])))
            }
        }
    }

    /// The element at `index`. A write copies the chunk if another copy of the array shares it.
    @inlinable
    public subscript(index: Int) -> Element {
        get {
            precondition(index >= 0 && index < count, "index out of bounds")
            return chunk(at: index)[index & ChunkShape.elementMask]
        }
        set {
            precondition(index >= 0 && index < count, "index out of bounds")
            writableChunk(at: index)[index & ChunkShape.elementMask] = newValue
        }
    }

    /// Adds one element at the end.
    @inlinable
    public mutating func append(_ element: Element) {
        let position = count & ChunkShape.elementMask
        if position > 0 {
            let chunk = writableChunk(at: count)
            if position < chunk.count {
                chunk[position] = element
                length += 1
                return
            }
        }
        resize(to: count + 1, repeating: element)
    }

    /// Writes one element. If the array ends before `index`, it is first extended with `filler`.
    @inlinable
    public mutating func set(_ index: Int, _ element: Element, fillingWith filler: Element) {
        if index >= count { resize(to: index + 1, repeating: filler) }
        self[index] = element
    }

    /// Shortens the array, or extends it with copies of one element. New full chunks of the same
    /// element are one shared chunk, so a long run of filler costs eight bytes per 256 elements.
    @inlinable
    public mutating func resize(to newCount: Int, repeating element: Element) {
        precondition(newCount >= 0, "a count of \(newCount)")
        if newCount > count {
            grow(to: newCount, repeating: element)
        } else if newCount < count {
            shrink(to: newCount)
        }
        length = newCount
    }

    /// Calls `body` with the elements at some indexes, in the order of the indexes.
    ///
    /// Finding an element retains no references, so the processor can wait for many memory accesses
    /// at once. The elements of a large array are fetched into the cache some time before their
    /// turn. Those of a small array are probably there already, and finding each of them twice would
    /// take longer than the reads do.
    @inlinable
    public func forEach(
        at indexes: Slots, _ body: (Element) -> Void
    ) {
        let isLarge = count > ChunkShape.cachedBytes / MemoryLayout<Element>.stride
        forEachAddress(at: UnsafeBufferPointer(indexes), prefetching: isLarge ? 16 : 0) {
            body($0.pointee)
        }
    }

    /// Calls `body` with the addresses of the elements at some indexes, in the order of the
    /// indexes. The addresses are valid as long as the array exists. The elements themselves are
    /// not read.
    ///
    /// - Parameter distance: how many calls before its turn an element is fetched into the cache; 0
    ///   fetches none.
    @inlinable
    @inline(__always)
    public func forEachAddress(
        at indexes: UnsafeBufferPointer<Slot>, prefetching distance: Int = 0,
        _ body: (UnsafePointer<Element>) -> Void
    ) {
        let limit = Slot(count)
        if let only {
            for index in indexes {
                precondition(index < limit, "index out of bounds")
                body(only.elements + Int(index))
            }
            return
        }
        pages.withUnsafeBufferPointer { pages in
            guard let first = pages.baseAddress else { return }
            func address(_ index: Slot) -> UnsafePointer<Element> {
                let position = Int(index)
                let chunk = (first + (position >> ChunkShape.pageShift)).pointee.chunk(at: position)
                return UnsafePointer(chunk + (position & ChunkShape.elementMask))
            }
            let prefetches = distance > 0 ? indexes.count - distance : 0
            for (number, index) in indexes.enumerated() {
                if number < prefetches, indexes[number + distance] < limit {
                    gb_prefetch(address(indexes[number + distance]))
                }
                precondition(index < limit, "index out of bounds")
                body(address(index))
            }
        }
    }

    /// Initialises a buffer with the elements at some indexes, in the order of the indexes.
    ///
    /// Because it does nothing else in the loop, it fetches more elements at once than `forEach`.
    @inlinable
    public func copy(
        at indexes: Slots,
        to buffer: UnsafeMutableBufferPointer<Element>
    ) {
        var next = buffer.baseAddress
        forEach(at: indexes) {
            next!.initialize(to: $0)
            next! += 1
        }
    }

    /// The memory of the array in bytes, as if it shared nothing with its copies. A chunk of filler
    /// counts once per use.
    ///
    /// - Complexity: O(1).
    @inlinable
    package var memoryBytes: Int {
        if let only { return Chunk<Element>.memoryBytes(count: only.header) }
        guard let last = pages.last?.page else { return 0 }
        let chunks = (pages.count - 1) * ChunkShape.chunksPerPage + last.header.count
        return chunks * Chunk<Element>.memoryBytes(count: ChunkShape.elements)
            + (pages.count - 1) * (ChunkPage<Element>.fullBytes + 16) + last.memoryBytes + 48
    }

    /// The start of the chunk of `index`.
    @inlinable
    func chunk(at index: Int) -> UnsafeMutablePointer<Element> {
        if let only { return only.elements }
        return pages[index >> ChunkShape.pageShift].chunk(at: index)
    }
}

extension PersistentArray: RandomAccessCollection {
    /// Always 0.
    @inlinable
    public var startIndex: Int { 0 }

    /// The number of elements.
    @inlinable
    public var endIndex: Int { count }
}
