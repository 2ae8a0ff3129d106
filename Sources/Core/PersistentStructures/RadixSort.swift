extension UnsafeMutableBufferPointer where Element: BitwiseCopyable {
    /// Sorts by a key, with a radix sort that proceeds from the lowest digit. The bits of the keys
    /// below `lowBit` must already ascend.
    ///
    /// Digits of 7 bits suit hundreds of elements, and digits of 11 bits many thousands. If there
    /// are fewer elements than a quarter of a digit's values, counting does not pay off and a
    /// comparison sort is used.
    ///
    /// - Complexity: O(n) for each digit up to the highest bit of any key, with scratch memory for
    ///   as many elements.
    @inlinable
    @inline(__always)
    public func radixSort(
        fromBit lowBit: UInt64 = 0, digitBits: UInt64, by key: (Element) -> UInt64
    ) {
        guard count >= 1 << (digitBits - 2) else {
            var few = self
            return few.sort { key($0) < key($1) }
        }
        let highest = reduce(0) { $0 | key($1) }
        let last: UInt64 = 1 << digitBits - 1
        // No temporary allocations: Swift 6.3.1 loses the register for errors where their closures
        // end with a move of memory, so that the caller continues in code for an error.
        let positionBytes = (Int(last) + 1) * MemoryLayout<UInt32>.stride
        let room = UnsafeMutableRawBufferPointer.allocate(
            byteCount: positionBytes + count * MemoryLayout<Element>.stride,
            alignment: Swift.max(MemoryLayout<UInt32>.alignment, MemoryLayout<Element>.alignment))
        defer { room.deallocate() }
        let positions = UnsafeMutableRawBufferPointer(rebasing: room[..<positionBytes])
            .bindMemory(to: UInt32.self)
        let scratch = UnsafeMutableRawBufferPointer(rebasing: room[positionBytes...])
            .bindMemory(to: Element.self)
        var (source, target) = (self, scratch)
        var shift = lowBit
        while highest >> shift != 0 {
            source.scatter(to: target, positions) { Int(key($0) &>> shift & last) }
            swap(&source, &target)
            shift += digitBits
        }
        if source.baseAddress != baseAddress { _ = update(fromContentsOf: source) }
    }

    /// Initialises `target` with the elements in the order of one digit. Equal elements keep their
    /// order.
    @inlinable
    @inline(__always)
    func scatter(
        to target: Self, _ positions: UnsafeMutableBufferPointer<UInt32>, by digit: (Element) -> Int
    ) {
        positions.initialize(repeating: 0)
        for element in self { positions[digit(element)] += 1 }
        var next: UInt32 = 0
        for digit in positions.indices {
            (positions[digit], next) = (next, next + positions[digit])
        }
        for element in self {
            let digit = digit(element)
            target.initializeElement(at: Int(positions[digit]), to: element)
            positions[digit] += 1
        }
    }
}
