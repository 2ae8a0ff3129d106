import JSONText
import Objects
import QueryLanguage
import Testing

@testable import BackendContract

/// Writes that are done once, however often they are asked for under one key.
@Suite struct RequestMemoryTests {
    private let day: Int64 = 24 * 3_600_000

    private func key(_ text: String, _ request: String = "request") -> RequestKey {
        RequestKey(text: text, request: Array(request.utf8))
    }

    private func court(requestKeys: Int = 1_000) -> Court {
        var limits = Limits()
        limits.requestKeys = requestKeys
        return Court(limits: limits, newIDs: (0..<100).map { "n\($0)" })
    }

    private func described(_ answer: WriteAnswer) -> String {
        switch answer {
        case .deleted(let count): "\(count)"
        case .stored(let objects): "\(objects)"
        }
    }

    @Test func `a repeat is answered as the first was, and changes nothing`() throws {
        var court = court()
        _ = try court.result(of: try put("o0", #"{"n":1}"#))
        let writes: [Write] = [
            try put(nil), try put("o1", #"{"n":1}"#, if: .absent),
            patch("o1", #"{"m":1}"#, ifVersion: 1),
            .putMany(bucket: shops, objects: [try object("{}"), try object("{}", id: "o2")]),
            delete("o2"),
            .deleteWhere(bucket: shops, clause: .eq(FieldPath("n"), .number(.integer(1)))),
            .deleteBucket(shops),
        ]
        for (number, write) in writes.enumerated() {
            let first = try court.result(of: write, key: key("k\(number)")).get()
            let change = court.state.change
            court.now += day / 8
            let again = try court.result(of: write, key: key("k\(number)")).get()
            #expect(described(again) == described(first), "write \(number)")
            #expect(court.state.change == change, "write \(number)")
        }
    }

    @Test func `a key is free again after a day, to the millisecond`() throws {
        for (later, version) in [(day - 1, "[1]"), (day, "[2]")] {
            var court = court()
            _ = try court.result(of: try put("o1"), key: key("k"))
            court.now += later
            #expect(try court.outcome(of: try put("o1"), key: key("k")) == version)
        }
    }

    @Test func `a key that was given to another request is refused`() throws {
        let court = court()
        _ = try court.result(of: try put("o1"), key: key("k", "put o1"))
        let found = try court.outcome(of: try put("o2"), key: key("k", "put o2"))
        #expect(found == "INVALID_INPUT_DATA requestKey")
        #expect(court.text("o2") == nil)
        #expect(try court.outcome(of: try put("o1"), key: key("k", "put o1")) == "[1]")
    }

    @Test func `a refused write is not remembered`() throws {
        let court = court()
        #expect(try court.outcome(of: patch("o1"), key: key("k")) == "OBJECT_NOT_FOUND")
        #expect(court.state.requestList.requests.isEmpty)
        _ = try court.result(of: try put("o1"))
        #expect(try court.outcome(of: patch("o1"), key: key("k", "another")) == "[2]")
    }

    @Test func `as many are remembered as the limit says, until the oldest are a day old`() throws {
        var court = court(requestKeys: 3)
        for number in 0..<3 {
            #expect(
                try court.outcome(of: try put("o1"), key: key("k\(number)")) == "[\(number + 1)]")
            court.now += 10
        }
        let refusal = #expect(throws: ServiceFailure.self) {
            _ = try court.result(of: try put("o1"), key: key("k3")).get()
        }
        #expect(refusal?.reason == .tooManyRequests && refusal?.path == "requestKey")
        #expect(refusal?.retryAfterMilliseconds == Int(day) - 30)
        #expect(try court.outcome(of: try put("o1"), key: key("k2")) == "[3]", "no room is needed")
        #expect(try court.outcome(of: try put("o1")) == "[4]", "nor without a key")
        court.now += day - 31
        #expect(
            try court.outcome(of: try put("o1"), key: key("k3")) == "TOO_MANY_REQUESTS requestKey")
        court.now += 1
        #expect(try court.outcome(of: try put("o1"), key: key("k3")) == "[5]")
    }

    @Test func `some forgotten ones go with each that is remembered`() throws {
        var court = court()
        for number in 0..<9 { _ = try court.result(of: try put("o1"), key: key("old \(number)")) }
        court.now += day
        for (number, left) in [(0, 6), (1, 3), (2, 3)] {
            _ = try court.result(of: try put("o1"), key: key("new \(number)"))
            #expect(court.state.requestList.requests.count == left)
        }
    }

    @Test func `a remembered answer that cannot be read refuses the repeat`() throws {
        let court = court()
        _ = try court.result(of: try put("o1"), key: key("k"))
        let first = court.state.requestList.request(key: "k")!
        for text in ["", "x", "{}", "[[1]]", #"[["o1",1,2]]"#, "1.5"] {
            court.state.requestList.remember(
                RememberedRequest(time: first.time, digest: first.digest, answer: Array(text.utf8)),
                key: "k")
            #expect(try court.outcome(of: try put("o1"), key: key("k")) == "UNDEFINED_ERROR")
        }
    }

    @Test func `answers are remembered in a form that does not change`() throws {
        let objects = [
            WriteResult(
                ObjectMetadata(id: ObjectID(trusted: "o1"), created: 1, modified: 2, version: 3)),
            WriteResult(
                ObjectMetadata(id: ObjectID(trusted: "7"), created: -1, modified: .max, version: 1),
                isWritten: false),
        ]
        for (answer, text) in [
            (.deleted(0), "0"), (.deleted(12), "12"), (.stored([]), "[]"),
            (.stored(objects), #"[["o1",1,2,3],["7",-1,9223372036854775807,1,false]]"#),
        ] as [(WriteAnswer, String)] {
            #expect(String(decoding: answer.remembered, as: UTF8.self) == text)
            let read = try #require(WriteAnswer(remembered: Array(text.utf8)))
            #expect(described(read) == described(answer))
        }
    }

    @Test func `a request is known by the first half of its SHA-256`() throws {
        let court = court()
        _ = try court.result(of: try put("o1"), key: key("k", "abc"))
        // FIPS 180-2, appendix B.1.
        let expected: [UInt8] = [
            0xBA, 0x78, 0x16, 0xBF, 0x8F, 0x01, 0xCF, 0xEA, 0x41, 0x41, 0x40, 0xDE, 0x5D, 0xAE,
            0x22, 0x23,
        ]
        #expect(court.state.requestList.request(key: "k")?.digest == expected)
    }
}
