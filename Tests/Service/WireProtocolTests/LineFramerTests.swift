import ServiceDesk
import TestSupport
import Testing

/// Lines out of bytes, however the bytes are cut.
@Suite struct LineFramerTests {
    /// What a framer tells: lines, and nil for one too long.
    private func events(_ pieces: [ArraySlice<UInt8>], limit: Int) -> [String?] {
        var framer = LineFramer(limit: limit)
        var told: [String?] = []
        for piece in pieces {
            piece.withUnsafeBytes { framer.append($0) }
            while let event = framer.next() {
                switch event {
                case .line(let range):
                    told.append(String(decoding: framer.buffer[range], as: UTF8.self))
                case .tooLong: told.append(nil)
                }
            }
            #expect(framer.pendingBytes <= limit + 1)
        }
        return told
    }

    /// The rule in plain words: split at each line feed, drop one carriage return before it, pass
    /// over what is empty, complain of what is long. Of a last line without its line feed only the
    /// complaint is told.
    private func oracle(_ bytes: [UInt8], limit: Int) -> [String?] {
        var lines = bytes.split(separator: 0x0A, omittingEmptySubsequences: false)
        let rest = lines.removeLast()
        var told: [String?] = lines.compactMap { line in
            let text = line.last == 0x0D ? line.dropLast() : line
            if text.count > limit { return .some(nil) }
            return text.isEmpty ? nil : .some(String(decoding: text, as: UTF8.self))
        }
        let certain = rest.count == limit + 1 && rest.last == 0x0D ? rest.dropLast() : rest
        if certain.count > limit { told.append(nil) }
        return told
    }

    static let texts = [
        "", "\n", "a", "a\n", "a\r\n", "\r\n\n\r\r\n", "ab\ncd\r\ne", "abcd\n", "abcd\r\n",
        "abcde\n", "abcde\r\n", "abcd\r", "abcd\r\r\n", "abcde", "abcdefghij\r\nok\n",
        "abcd\rx\nok\n", "\n\nabcdefgh\n\nok\r\n\r\n", "aaaaaaaaa\nbbbbbbbbb\r\ncc\n",
    ]

    @Test(arguments: texts)
    func `Lines are the same in every split of their bytes into three`(_ text: String) {
        let bytes = Array(text.utf8)
        let expected = oracle(bytes, limit: 4)
        for first in 0...bytes.count {
            for second in first...bytes.count {
                let told = events(
                    [bytes[..<first], bytes[first..<second], bytes[second...]], limit: 4)
                #expect(told == expected, "\(first) \(second)")
            }
        }
        #expect(events(bytes.indices.map { bytes[$0...$0] }, limit: 4) == expected)
    }

    @Test(arguments: 1...20 as ClosedRange<UInt64>)
    func `Lines are the same in any split of long input`(_ seed: UInt64) {
        var random = SplitMix64(seed: seed)
        let limit = 1 + random.below(300)
        let alphabet: [UInt8] = [0x0A, 0x0D] + Array(repeating: 0x78, count: 1 + random.below(200))
        let bytes = (0..<150_000).map { _ in alphabet[random.below(alphabet.count)] }
        var pieces: [ArraySlice<UInt8>] = []
        var at = 0
        while at < bytes.count {
            let end = min(bytes.count, at + 1 + random.below(seed % 2 == 0 ? 100 : 90_000))
            pieces.append(bytes[at..<end])
            at = end
        }
        #expect(events(pieces, limit: limit) == oracle(bytes, limit: limit), "seed \(seed)")
    }

    @Test func `A line without end is not kept, however long it is`() {
        var framer = LineFramer(limit: 1_000_000)
        let piece = [UInt8](repeating: 0x78, count: 65_536)
        var complaints = 0
        for _ in 0..<1_600 {
            piece.withUnsafeBytes { framer.append($0) }
            while framer.next() != nil { complaints += 1 }
            #expect(framer.buffer.count < 1_200_000)
        }
        #expect(complaints == 1)
        Array("\nok\n".utf8).withUnsafeBytes { framer.append($0) }
        guard case .line(let range) = framer.next() else {
            Issue.record("the line behind the long one is lost")
            return
        }
        #expect(framer.buffer[range].elementsEqual("ok".utf8))
        #expect(framer.buffer.capacity < 4_000_000)
    }
}
