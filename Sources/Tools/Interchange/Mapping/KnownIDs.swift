import Glibc

/// The ids of a file so far, so that two of its records do not come to the same one.
///
/// It knows the first million of them, by their hashes of 64 bits: at a million the chance that two
/// different ids are taken for the same is one to 18 millions.
///
/// - Complexity: O(1) for each id; 11 MiB in all, of which only what is in use becomes resident.
final class KnownIDs {
    static let most = 1_000_000
    /// Open addressing with linear probing; 0 is a free slot. At most two thirds are taken.
    private let slots: UnsafeMutablePointer<UInt64>
    private static let slotCount = 1_500_000
    private(set) var count = 0

    init() {
        slots = calloc(Self.slotCount, MemoryLayout<UInt64>.stride)!
            .bindMemory(to: UInt64.self, capacity: Self.slotCount)
    }

    deinit { free(slots) }

    /// The hash of an id in this process.
    static func hash(_ id: UnsafeBufferPointer<UInt8>) -> Int {
        var hasher = Hasher()
        hasher.combine(bytes: UnsafeRawBufferPointer(id))
        return hasher.finalize()
    }

    /// Remembers the hash of an id; false if it was known.
    func insert(_ hash: Int) -> Bool {
        let hash = UInt64(bitPattern: Int64(hash)) | 1
        var slot = Int(hash.multipliedFullWidth(by: UInt64(Self.slotCount)).high)
        while slots[slot] != 0 {
            if slots[slot] == hash { return false }
            slot = slot + 1 == Self.slotCount ? 0 : slot + 1
        }
        guard count < Self.most else { return true }
        slots[slot] = hash
        count += 1
        return true
    }
}
