extension Range<Int> {
    /// The first number for which a test is false. The test has to be true for all numbers before
    /// it. The result is the end if the test is false for none.
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
