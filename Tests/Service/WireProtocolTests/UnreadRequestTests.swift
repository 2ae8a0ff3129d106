import JSONText
import Objects
import ServiceDesk
import TestSupport
import Testing

/// What is known of a request before its params are read.
@Suite struct UnreadRequestTests {
    private func unread<Result>(
        _ method: String, _ params: String, _ body: (UnreadRequest) throws -> Result
    ) throws -> Result {
        let parser = RequestParser(limits: Limits())
        let line = Array(
            #"{"jsonrpc":"2.0","id":1,"method":"\#(method)","params":\#(params)}"#.utf8)
        return try withExtendedLifetime(parser) {
            guard case .single(let request) = line.withUnsafeBufferPointer({ parser.parse($0) })
            else { throw TestFault() }
            return try body(request)
        }
    }

    private struct TestFault: Error {}

    @Test(arguments: [
        (#"{"bucket":"shops"}"#, "shops"), (#"{"bucket":"users/al/x1","x":1}"#, "users/al/x1"),
        (#"{"bucket":"a1","bucket":"b1"}"#, "b1"), (#"{"bucket":"?"}"#, nil),
        (#"{"bucket":1}"#, nil), ("{}", nil), ("[]", nil), (#"[{"bucket":"shops"}]"#, nil),
    ])
    func `The bucket is the one that the params will name`(_ params: String, _ bucket: String?)
        throws
    {
        #expect(try unread("object.get", params) { $0.bucket?.text } == bucket)
    }

    @Test(arguments: [
        ("{}", ""), (#"{"scope":"users/al"}"#, "users/al"), (#"{"scope":"x"}"#, nil),
        (#"{"scope":null}"#, nil),
    ])
    func `The scope is the one that the params will name`(_ params: String, _ scope: String?)
        throws
    {
        #expect(try unread("bucket.list", params) { $0.scope?.text } == scope)
    }

    @Test(arguments: [99, 100, 5_000])
    func `Params of many nodes are many values, and so are long ones`(_ count: Int) throws {
        // Each position is an array of two numbers; around them stand some more values.
        let ring = (0..<count).map { "[\($0),\($0)]" }.joined(separator: ",")
        let many = #"{"bucket":"b1","a":{"b":{"c":1,"d":2,"e":{"f":3,"g":[[\#(ring)]]}}}}"#
        #expect(try unread("bucket.query", many) { $0.hasManyValues } == (count > 164))
        let long = #"{"bucket":"b1","a":""# + String(repeating: "x", count: count * 10) + #""}"#
        #expect(try unread("bucket.count", long) { $0.hasManyValues } == (count > 1_600))
    }

    @Test func `Params are given by name, or there are none`() throws {
        #expect(try unread("object.get", #"{"id":"o1"}"#) { try $0.namedParams?.count } == 1)
        #expect(try unread("object.get", "[]") { try $0.namedParams?.count } == nil)
        #expect(throws: ServiceFailure.self) {
            try unread("object.get", #"["o1"]"#) { _ = try $0.namedParams }
        }
    }
}
