import Foundation
import Objects
import ServiceDesk
import TestSupport
import Testing

/// The methods, and what `docs/protocol.md` says of them.
@Suite struct MethodTests {
    private static func protocolDocument() throws -> String {
        try String(
            contentsOf: Checkout.root.appending(path: "docs/protocol.md"), encoding: .utf8)
    }

    @Test func `The table of the document has every method and no other`() throws {
        let rows = try Self.protocolDocument().matches(of: /(?m)^\| `([a-z]+\.[A-Za-z]+)` \|/)
        let documented = rows.map { String($0.output.1) }
        #expect(documented.sorted() == MethodName.allCases.map { "\($0.text)" }.sorted())
    }

    @Test func `The document lists those methods as writes that are`() throws {
        let sentence = try #require(
            try Self.protocolDocument().firstMatch(of: /Every write \(([^)]*)\) takes/))
        var group = ""
        let documented = sentence.output.1.matches(of: /`([a-z]+\.)?([A-Za-z]+)`/).map { name in
            group = name.output.1.map(String.init) ?? group
            return group + name.output.2
        }
        let writes = MethodName.allCases.filter { Method[$0].isWrite }.map { "\($0.text)" }
        #expect(documented.sorted() == writes.sorted())
    }

    @Test(arguments: MethodName.allCases)
    func `Every name has the descriptor of its method`(_ name: MethodName) {
        #expect(Method[name].name == name)
    }

    @Test func `What changes objects, logs in or goes on from call to call is not repeated`() {
        let once = Set(MethodName.allCases.filter { !$0.mayBeRepeated })
        let writes = MethodName.allCases.filter { Method[$0].isWrite }
        #expect(
            once
                == Set(writes).union([
                    .login, .export, .check, .backup, .startWatch, .moveWatch, .syncWatch,
                    .stopWatch,
                ]))
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
        for name in [.query, .count, .explain, .deleteWhere, .startWatch] as [MethodName] {
            try Requests.read("\(name.text)", polygon) {
                #expect(Method[name].isLarge($0) == (count > 164), "\(name)")
            }
        }
        try Requests.read("object.put", polygon) { #expect(!Method[.put].isLarge($0)) }
    }

    @Test func `What goes through a whole store or bucket is costly, whatever there is in it`()
        async throws
    {
        try await withTemporaryFolder { folder in
            let backend = try BackendKind.embedded.open(.init(path: folder + "/store.sqlite"))
            defer { try? backend.close() }
            let service = QueryService(backend: backend, limits: Limits())
            var costly: Set<MethodName> = []
            for name in MethodName.allCases where !Method[name].isWrite {
                // These need a watch; a move is costly as a start is.
                if name == .moveWatch || name == .syncWatch { continue }
                let params =
                    switch name {
                    case .login: #"{"token":"t"}"#
                    case .get: #"{"bucket":"b1","id":"o1"}"#
                    case .count, .query, .explain, .fields, .export, .route, .startWatch:
                        #"{"bucket":"b1"}"#
                    case .cancel: #"{"id":1}"#
                    case .clusters: #"{"bucket":"b1","zoom":1}"#
                    case .stopWatch: #"{"watch":"w1"}"#
                    default: "{}"
                    }
                try Requests.read("\(name.text)", params) { request in
                    let call = try Method[name].call(request, Limits())
                    guard case .read(let read, _) = call else { return }
                    let prepared = try read.prepare(for: Caller(address: "local"), on: service)
                    if prepared.isCostly { costly.insert(name) }
                }
            }
            #expect(costly == [.export, .check, .backup, .compact, .startWatch])
        }
    }
}

private enum Requests {
    private struct NoRequest: Error {}

    static func read(
        _ method: String, _ params: String, _ body: (UnreadRequest) throws -> Void
    ) throws {
        let parser = RequestParser(limits: Limits())
        let line = Array(
            #"{"jsonrpc":"2.0","id":1,"method":"\#(method)","params":\#(params)}"#.utf8)
        try withExtendedLifetime(parser) {
            guard case .single(let request) = line.withUnsafeBufferPointer({ parser.parse($0) })
            else { throw NoRequest() }
            try body(request)
        }
    }
}
