/// The most neighbouring cells of an open hash table that are all taken. No search passes more.
package func longestRun(of cells: Int, where isTaken: (Int) -> Bool) -> Int {
    var (longest, run) = (0, 0)
    for cell in 0..<cells {
        run = isTaken(cell) ? run + 1 : 0
        longest = max(longest, run)
    }
    return longest
}
