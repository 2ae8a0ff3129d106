/// The bytes of object ids, appended and never changed: a copy shares what was there before.
///
/// - Note: One lineage of copies appends; older copies never read behind their own end, so they
///   need no lock.
struct IDArena: Sendable {
    private var blocks: [Block] = []
    private var used = 0
    private(set) var bytes = 0

    /// Where an id begins; its first byte there is its length.
    typealias Address = UInt64

    mutating func append(_ id: UnsafeBufferPointer<UInt8>) -> Address {
        precondition(id.count < 256, "an id of \(id.count) bytes")
        if blocks.isEmpty || used + id.count + 1 > blocks[blocks.count - 1].capacity {
            // Small buckets stay small: blocks double from 128 bytes to 64 KiB.
            blocks.append(Block(capacity: 128 << min(blocks.count, 9)))
            used = 0
        }
        let block = blocks[blocks.count - 1]
        let address = Address(blocks.count - 1) << 32 | Address(used)
        block.memory[used] = UInt8(id.count)
        (block.memory + used + 1).update(from: id.baseAddress!, count: id.count)
        used += id.count + 1
        bytes += id.count + 1
        return address
    }

    /// The id at an address, valid as long as this arena or a copy of it.
    func id(at address: Address) -> UnsafeBufferPointer<UInt8> {
        let start = blocks[Int(address >> 32)].memory + Int(address & 0xFFFF_FFFF)
        return UnsafeBufferPointer(start: start + 1, count: Int(start[0]))
    }

    /// `@unchecked Sendable`: bytes before an arena's end are never written again, and behind it
    /// only the newest arena of the lineage writes, on the writer's thread.
    private final class Block: @unchecked Sendable {
        let memory: UnsafeMutablePointer<UInt8>
        let capacity: Int

        init(capacity: Int) {
            memory = .allocate(capacity: capacity)
            memory.initialize(repeating: 0, count: capacity)
            self.capacity = capacity
        }

        deinit { memory.deallocate() }
    }
}
