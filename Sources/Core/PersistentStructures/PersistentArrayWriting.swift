extension PersistentArray {
    /// The whole chunk of `index`, for writing. Shared parts of the path to it are copied first.
    /// The buffer is valid until the array is copied or changed in another way.
    @inlinable
    mutating func writableChunk(at index: Int) -> UnsafeMutableBufferPointer<Element> {
        if only != nil {
            if !isKnownUniquelyReferenced(&only) { only = Chunk.make(copying: only!) }
            return only!.all
        }
        let page = index >> ChunkShape.pageShift
        makeWritable(page)
        return pages[page].page.writableChunk(
            (index >> ChunkShape.elementShift) & ChunkShape.chunkMask)
    }

    @inlinable
    mutating func makeWritable(_ page: Int) {
        if !isKnownUniquelyReferenced(&pages[page].page) { replace(page) }
    }

    /// Replaces a page by a copy of it with full capacity.
    @inlinable
    mutating func replace(_ page: Int) {
        pages[page] = PageReference(ChunkPage.make(copying: pages[page].page))
    }

    @inlinable
    mutating func grow(to newCount: Int, repeating element: Element) {
        guard newCount > ChunkShape.elements else {
            growOnly(to: newCount, repeating: element)
            return
        }
        if let chunk = only {
            let full = Chunk.make(
                copying: chunk, first: count, repeating: element, count: ChunkShape.elements)
            pages = [PageReference(ChunkPage.make([full]))]
            only = nil
        } else {
            fillOpenChunk(upTo: newCount, with: element)
        }
        appendChunks(upTo: newCount, of: element)
    }

    // The memory of every chunk is initialised to its end, so growth inside a chunk only
    // overwrites.
    @inlinable
    mutating func growOnly(to newCount: Int, repeating element: Element) {
        let present = only?.header ?? 0
        if newCount <= present {
            let chunk = writableChunk(at: 0)
            (chunk.baseAddress! + count).update(repeating: element, count: newCount - count)
        } else {
            let capacity = ChunkShape.capacity(for: newCount, after: present)
            only =
                only.map {
                    Chunk.make(copying: $0, first: count, repeating: element, count: capacity)
                } ?? Chunk.make(repeating: element, count: capacity)
        }
    }

    @inlinable
    mutating func fillOpenChunk(upTo newCount: Int, with element: Element) {
        let used = count & ChunkShape.elementMask
        guard used != 0 else { return }
        let length = Swift.min(ChunkShape.elements - used, newCount - count)
        (writableChunk(at: count).baseAddress! + used).update(repeating: element, count: length)
    }

    @inlinable
    mutating func appendChunks(upTo newCount: Int, of element: Element) {
        let existing = (count + ChunkShape.elementMask) >> ChunkShape.elementShift
        let wanted = (newCount + ChunkShape.elementMask) >> ChunkShape.elementShift
        guard wanted > existing else { return }
        let shared = Chunk.make(repeating: element, count: ChunkShape.elements)
        for number in existing..<wanted {
            let position = number >> (ChunkShape.pageShift - ChunkShape.elementShift)
            if position == pages.count { pages.append(PageReference(ChunkPage.make([]))) }
            if pages[position].page.isFull { replace(position) }
            makeWritable(position)
            pages[position].page.append(shared)
        }
    }

    @inlinable
    mutating func shrink(to newCount: Int) {
        guard newCount > 0 else {
            self = PersistentArray()
            return
        }
        guard only == nil else { return }
        if newCount <= ChunkShape.elements {
            only = pages[0].chunks[0].takeUnretainedValue()
            pages = []
            return
        }
        let wanted = (newCount + ChunkShape.elementMask) >> ChunkShape.elementShift
        let wantedPages = (wanted + ChunkShape.chunkMask) / ChunkShape.chunksPerPage
        pages.removeLast(pages.count - wantedPages)
        makeWritable(wantedPages - 1)
        pages[wantedPages - 1].page.keepFirst(
            wanted - (wantedPages - 1) * ChunkShape.chunksPerPage)
    }
}
