/// An append-only store of byte strings, which are identified by 32-bit addresses. A copy shares
/// all earlier strings.
///
/// Addresses count units of four bytes, so an arena holds up to 16 GiB. The first block starts at
/// 256 bytes and grows by copying, so that small arenas stay small.
///
/// - Note: Only one lineage of copies appends. Older copies never read beyond their own end, so
///   they need no lock.
@usableFromInline
struct ByteArena: Sendable {
    @usableFromInline
    var blocks: [Block] = []
    /// The number of used units in the last block.
    private var used = 0

    @inlinable static var unit: Int { 4 }
    @inlinable static var blockUnits: Int { 1 << 18 }  // 1 MiB
    /// The length of the longest string that fits.
    static let maximumBytes = blockUnits * unit - 4

    /// The memory of the arena, in bytes.
    var memoryBytes: Int { blocks.reduce(0) { $0 + $1.units * Self.unit } }

    /// The bytes that are used, of the last block and all before it.
    var usedBytes: Int { ((max(blocks.count, 1) - 1) * Self.blockUnits + used) * Self.unit }

    /// - Parameter bytes: at most `maximumBytes`.
    mutating func append(_ bytes: Bytes) -> UInt32 {
        let units = (bytes.count + 4 + Self.unit - 1) / Self.unit
        if blocks.isEmpty || used + units > Self.blockUnits {
            blocks.append(Block(units: blocks.isEmpty ? max(64, units) : Self.blockUnits))
            used = 0
        } else if used + units > blocks[blocks.count - 1].units {
            let old = blocks[blocks.count - 1]
            let wanted = min(max(old.units * 2, used + units), Self.blockUnits)
            blocks[blocks.count - 1] = Block(units: wanted, copying: old, units: used)
        }
        let address = (blocks.count - 1) * Self.blockUnits + used
        let start = blocks[blocks.count - 1].memory + used * Self.unit
        start.storeBytes(of: UInt32(bytes.count), as: UInt32.self)
        if let source = bytes.baseAddress {
            (start + 4).copyMemory(from: source, byteCount: bytes.count)
        }
        used += units
        return UInt32(address)
    }

    /// The bytes at an address.
    @inlinable
    func bytes(at address: UInt32) -> Bytes {
        let block = blocks[Int(address) / Self.blockUnits]
        let start = block.memory + (Int(address) % Self.blockUnits) * Self.unit
        return Bytes(
            start: (start + 4).assumingMemoryBound(to: UInt8.self),
            count: Int(start.load(as: UInt32.self)))
    }

    /// `@unchecked Sendable`: bytes before an arena's end are never written again. After the end,
    /// only the newest arena of the lineage writes, on the writer's thread.
    @usableFromInline
    final class Block: @unchecked Sendable {
        @usableFromInline
        let memory: UnsafeMutableRawPointer
        let units: Int

        init(units: Int) {
            memory = .allocate(byteCount: units * ByteArena.unit, alignment: 8)
            self.units = units
        }

        convenience init(units: Int, copying other: Block, units used: Int) {
            self.init(units: units)
            memory.copyMemory(from: other.memory, byteCount: used * ByteArena.unit)
        }

        deinit { memory.deallocate() }
    }
}
