import JSONText
import Testing

/// What is told of a text that has been parsed.
@Suite struct JSONViewTests {
    @Test(arguments: [("1", 0), ("[]", 1), ("[1,[2,[]],3]", 3), (#"{"a":[{}],"b":1}"#, 3)])
    func `Depth counts the levels of arrays and objects`(_ text: String, _ depth: Int) throws {
        #expect(try PlainJSONParser.reading(Array(text.utf8)) { $0.depth } == depth)
    }

    @Test(arguments: [2, 40])
    func `Names are numbered as they come, few and many`(_ count: Int) {
        var names = MemberNames(atMost: count)
        (0..<count).map(UInt8.init).withUnsafeBufferPointer { bytes in
            for number in 0..<count {
                let name = UnsafeBufferPointer(rebasing: bytes[number...number])
                #expect(names.enter(name) == (number, true))
                #expect(names.enter(name) == (number, false))
            }
        }
    }
}
