import Glibc

/// Random numbers of the operating system, which gives many at a time at the price of one.
///
/// `SystemRandomNumberGenerator` asks it for each number.
public struct RandomBuffer: RandomNumberGenerator {
    private var words: [UInt64] = []

    /// As many as the system gives at once (getentropy(3)): 256 bytes.
    private static let count = 32

    /// A generator that has asked for nothing yet.
    public init() {}

    /// The next number; none is given twice.
    public mutating func next() -> UInt64 {
        if words.isEmpty { fill() }
        return words.removeLast()
    }

    private mutating func fill() {
        let bytes = Self.count * MemoryLayout<UInt64>.size
        words = Array(unsafeUninitializedCapacity: Self.count) { buffer, count in
            precondition(
                getentropy(buffer.baseAddress!, bytes) == 0, "the system has no random numbers")
            count = Self.count
        }
    }
}
