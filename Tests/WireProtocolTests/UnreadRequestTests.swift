import JSONText
import Objects
import TestSupport
import Testing
import WireProtocol

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
    func `A clause of many values is large, and so is a long one; a document is not`(
        _ count: Int
    ) throws {
        // Each position is an array of two numbers; around them stand some more values.
        let ring = (0..<count).map { "[\($0),\($0)]" }.joined(separator: ",")
        let polygon =
            #"{"bucket":"b1","bucketQuery":{"clause":{"type":"geopolygon","field":"p","polygon":"#
            + #"{"type":"Polygon","coordinates":[[\#(ring)]]}}}}"#
        for method in ["bucket.query", "bucket.count", "bucket.explain", "bucket.deleteWhere"] {
            #expect(try unread(method, polygon) { $0.isLarge } == (count > 164), "\(method)")
        }
        #expect(try unread("object.put", polygon) { !$0.isLarge })
        let long = String(repeating: "x", count: count * 10)
        let prefix =
            #"{"bucket":"b1","bucketQuery":{"clause":{"type":"prefix","field":"s","prefix":"\#(long)"}}}"#
        #expect(try unread("bucket.count", prefix) { $0.isLarge } == (count > 1_600))
    }
}
