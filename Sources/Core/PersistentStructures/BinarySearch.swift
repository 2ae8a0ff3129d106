extension Range<Int> {
    /// The first number for which a test is false that is true for all before it; the end if it is
    /// false for none.
    ///
    /// - Complexity: O(log n) tests.
    @inlinable
    @inline(__always)
    public func firstPosition(where isBefore: (Int) -> Bool) -> Int {
        var (low, high) = (lowerBound, upperBound)
        while low < high {
            let middle = (low + high) / 2
            if isBefore(middle) { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
