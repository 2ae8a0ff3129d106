import BackendContract
import Objects
import TestSupport
import Testing

/// UUIDs of version 7.
@Suite struct NewObjectIDTests {
    private struct Numbers: RandomNumberGenerator {
        var left: [UInt64]
        mutating func next() -> UInt64 { left.removeFirst() }
    }

    /// RFC 9562, appendix A.6.
    @Test func `time and random numbers stand where the standard has them`() {
        var numbers = Numbers(left: [0xFFF_FCC3, 0x18C4_DC0C_0C07_398F << 2])
        let id = ObjectID.new(at: 0x017F_22E2_79B0, from: &numbers)
        #expect(id.text == "017f22e2-79b0-7cc3-98c4-dc0c0c07398f")
    }

    @Test func `ids are valid, differ, and follow each other by their times`() throws {
        var random = SplitMix64(seed: 5)
        var last = ObjectID(trusted: "")
        for time in (1_700_000_000_000 as Int64)..<1_700_000_000_500 {
            let ids = (0..<4).map { _ in ObjectID.new(at: time, from: &random) }
            #expect(Set(ids).count == 4)
            #expect(ids.allSatisfy { last < $0 })
            _ = try ObjectID(ids[0].text, at: "id")
            last = ids.max()!
        }
    }
}
