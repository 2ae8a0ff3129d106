import Digests
import Testing

/// Digests and codes are those of the standards' examples.
@Suite struct DigestsTests {
    private static func hexadecimal(_ bytes: [UInt8]) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    /// NIST's examples for FIPS 180-4, and none at all.
    @Test(arguments: [
        ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        (
            "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
        ),
    ])
    func `A digest is SHA-256`(_ text: String, _ digest: String) {
        #expect(Self.hexadecimal(SHA256.digest(of: Array(text.utf8))) == digest)
    }

    /// RFC 4231, cases 1, 2 and 6: a key of 20 bytes, a short one, one longer than a block; an empty one.
    @Test(arguments: [
        (
            [UInt8](repeating: 0x0b, count: 20), "Hi There",
            "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"
        ),
        (
            Array("Jefe".utf8), "what do ya want for nothing?",
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
        ),
        (
            [UInt8](repeating: 0xaa, count: 131),
            "Test Using Larger Than Block-Size Key - Hash Key First",
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
        ),
        // Nothing by nothing, as Python's hmac has it.
        ([], "", "b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad"),
    ])
    func `A code is HMAC with SHA-256, however often the key is used`(
        _ secret: [UInt8], _ message: String, _ code: String
    ) {
        let key = AuthenticationKey(secret)
        for _ in 0..<3 {
            let made = Array(message.utf8).withUnsafeBufferPointer { key.code(of: $0) }
            #expect(Self.hexadecimal(made) == code)
        }
    }

    @Test func `Several threads may use a key at once`() async {
        let key = AuthenticationKey([1, 2, 3])
        let message = [UInt8](repeating: 7, count: 200)
        let code = message.withUnsafeBufferPointer { key.code(of: $0) }
        await withTaskGroup { group in
            for _ in 0..<4 {
                group.addTask {
                    for _ in 0..<2_000 {
                        #expect(message.withUnsafeBufferPointer { key.code(of: $0) } == code)
                    }
                }
            }
        }
    }

    @Test func `Equal in constant time is equal`() {
        let bytes = SHA256.digest(of: [])
        #expect(areEqualInConstantTime(bytes[...], bytes[...]))
        #expect(areEqualInConstantTime([], []))
        #expect(!areEqualInConstantTime(bytes[...], bytes.dropLast()))
        for position in bytes.indices {
            var other = bytes
            other[position] ^= 1
            #expect(!areEqualInConstantTime(bytes[...], other[...]), "\(position)")
        }
    }
}
