import Glibc
import JSONText
import NIOCore
import Synchronization
import TestSupport
import Testing

@testable import GeoBucketClient

/// What goes out on a connection, and which answer belongs to it.
@Suite struct CallTests {
    @Test func `Line breaks in the params do not split a request`() async throws {
        try await TestService.with { service in
            try await GeoBucketClient.with(ConnectionTests.address(service.port)) { client in
                let params = Array("{\n\"bucket\":\r\n\"some\"}\n".utf8)
                let answer = try await client.callText("bucket.count", params)
                #expect(String(decoding: answer, as: UTF8.self).contains("count"))
                try await client.ping()
            }
        }
    }

    @Test func `The answer to another request is none, and ends the connection`() async throws {
        try await FakeService(id: 7, { _, _ in .result("\"pong\"") }).serve { service, port in
            try await GeoBucketClient.with(ConnectionTests.address(port)) { client in
                for _ in 0..<2 {
                    _ = await #expect(
                        throws: ClientFailure.malformedAnswer("it belongs to another request")
                    ) { try await client.ping() }
                    while client.isConnected { await Task.yield() }
                }
            }
            #expect(service.connectionCount == 2)
        }
    }

    @Test func `Numbers that JSON does not have are refused before they are sent`() async throws {
        try await FakeService({ _, _ in .result("{}") }).serve { service, port in
            try await GeoBucketClient.with(ConnectionTests.address(port)) { client in
                let documents = [JSONValue.object(["a": .array([.double(.nan)])])]
                _ = await #expect(
                    throws: ClientFailure.invalid(
                        "nan has no JSON spelling", path: "objects[0].a[0]")
                ) { try await client.bucket("some").putMany(documents) }
                _ = await #expect(
                    throws: ClientFailure.invalid("-inf has no JSON spelling", path: "x")
                ) { try await client.call("object.create", .object(["x": .double(-.infinity)])) }
            }
            #expect(service.requests.isEmpty)
        }
    }
}
