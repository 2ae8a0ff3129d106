import JSONText
import ServiceDesk
import Testing

@Suite struct RPCFailureTests {
    private static let failures: [RPCFailure] = {
        var failures = [
            RPCFailure(-32700, "INVALID_JSON", "the text is not \"JSON\"", offset: 7),
            RPCFailure(internalErrorOf: "r1"),
        ]
        failures.append(RPCFailure(1404, "OBJECT_NOT_FOUND", "no such object"))
        failures[2].path = "object.location"
        failures[2].retryAfterMilliseconds = 1_000
        return failures
    }()

    @Test(arguments: failures)
    func `A failure that is written reads back as the same`(_ failure: RPCFailure) throws {
        var writer = JSONWriter()
        AnswerWriter.failure(failure, id: nil, to: &writer)
        let read = try PlainJSONParser.reading(writer.bytes) { answer in
            #expect(answer["id"]?.kind == .null)
            return answer["error"].flatMap(RPCFailure.init)
        }
        #expect(read == failure)
    }

    @Test func `A failure of another service has its number for a name`() throws {
        let read = try PlainJSONParser.reading(Array(#"{"code":5,"message":"no"}"#.utf8)) {
            RPCFailure($0)
        }
        #expect(read == RPCFailure(5, "5", "no"))
    }

    @Test(arguments: [#"{"code":5}"#, #"{"message":"no"}"#, "null"])
    func `What has no code or no message is no failure`(_ text: String) throws {
        #expect(try PlainJSONParser.reading(Array(text.utf8)) { RPCFailure($0) } == nil)
    }
}
