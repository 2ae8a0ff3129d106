/// The distinct cells of a narrow column, numbered in the order of their arrival.
///
/// - Note: It grows like an arena: older copies never read beyond their own end.
@usableFromInline
struct Palette: Sendable {
    @usableFromInline
    var memory = Memory(capacity: 16)
    private(set) var count = 0
    private var codes: [Cell: UInt16] = [:]

    /// The maximum number of distinct cells in a narrow column.
    static let maximumCount = 1 << 16

    /// The cells by code, valid as long as this palette or a copy of it exists.
    @inlinable
    var cells: UnsafePointer<Cell> { UnsafePointer(memory.cells) }

    /// The memory of the palette, in bytes.
    var memoryBytes: Int { memory.capacity * 8 + codes.capacity * 16 }

    func code(of cell: Cell) -> UInt16? { codes[cell] }

    mutating func append(_ cell: Cell) -> UInt16 {
        if count == memory.capacity { memory = Memory(capacity: count * 2, copying: memory) }
        memory.cells[count] = cell
        let code = UInt16(count)
        codes[cell] = code
        count += 1
        return code
    }

    /// `@unchecked Sendable`: cells before a palette's end are never written again. After the end,
    /// only the newest palette of the lineage writes, on the writer's thread.
    @usableFromInline
    final class Memory: @unchecked Sendable {
        @usableFromInline
        let cells: UnsafeMutablePointer<Cell>
        let capacity: Int

        init(capacity: Int, copying other: Memory? = nil) {
            cells = .allocate(capacity: capacity)
            self.capacity = capacity
            if let other { cells.update(from: other.cells, count: other.capacity) }
        }

        deinit { cells.deallocate() }
    }
}
