import Foundation
import GeoBucketClient
import JSONText
import QueryServer
import TestSupport
import Testing

/// Nodes that share the buckets and reach each other over TLS.
@Suite(
    .needsPostgreSQL, .enabled(if: TLSIdentity.isAvailable, "this build has no TLS"), .serialized)
struct SecureNodesTests {
    /// A certificate for nodes that trust its authority alone.
    private static func identity(
        of authority: TestAuthority, _ name: String, demandsClient: Bool = false
    ) throws -> TLSIdentity {
        let own = try authority.issue(name)
        return try TLSIdentity(
            .init(
                certificate: own.certificate, key: own.key,
                clientCA: demandsClient ? authority.certificate : nil,
                nodeCA: authority.certificate))
    }

    @Test(arguments: [false, true])
    func `requests are passed on over TLS, with a certificate where one is demanded`(
        demandsClient: Bool
    ) async throws {
        try await withTemporaryFolder { folder in
            let authority = try TestAuthority(folder: folder)
            let server = try Self.identity(
                of: authority, "node", demandsClient: demandsClient)
            var client = ClientTLS(certificateAuthority: authority.certificate)
            if demandsClient {
                let own = try authority.issue("client")
                client.identity = (own.certificate, own.key)
            }
            try await TestCluster.with(nodes: 3, copies: 1, tls: (server, client)) { cluster in
                let long = String(repeating: "x", count: 60_000)
                for node in 0..<3 {
                    for bucket in ["b1", "b2", "b3", "b4"] {
                        try await cluster.call(
                            node, "object.put",
                            #"{"bucket":"\#(bucket)","id":"o\#(node)","object":{"a":"\#(long)"}}"#)
                    }
                }
                for node in 0..<3 {
                    for bucket in ["b1", "b2", "b3", "b4"] {
                        let page = try await cluster.call(
                            node, "bucket.query", #"{"bucket":"\#(bucket)"}"#)
                        let texts = page["results"]?.array?.map { $0["a"]?.string }
                        #expect(texts == [long, long, long], "\(bucket) at node \(node)")
                    }
                }
            }
        }
    }

    @Test func `a node with a certificate of another authority gets nothing`() async throws {
        try await withTemporaryFolder { folder in
            let (own, others) = (folder + "/own", folder + "/others")
            for path in [own, others] {
                try FileManager.default.createDirectory(
                    atPath: path, withIntermediateDirectories: false)
            }
            let (authority, other) = try (TestAuthority(folder: own), TestAuthority(folder: others))
            let server = try Self.identity(of: authority, "node")
            let stranger = try Self.identity(of: other, "node")
            // The test's own connections trust both.
            let roots =
                try String(contentsOfFile: authority.certificate, encoding: .utf8)
                + String(contentsOfFile: other.certificate, encoding: .utf8)
            try roots.write(toFile: folder + "/roots.pem", atomically: false, encoding: .utf8)
            let client = ClientTLS(certificateAuthority: folder + "/roots.pem")
            try await SharedBucketTests.checkStranger(tls: (server, client)) {
                try await $0.start(1, identity: stranger)
            }
        }
    }
}
