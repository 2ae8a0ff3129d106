import ArgumentParser
import GeoBucketClient
import Interchange
import JSONText
import Objects

/// A bucket of another service, as a source of objects: `geobucket://HOST:PORT/BUCKET`.
struct RemoteBucket {
    private let server: ServerAddress
    let bucket: String

    /// Nil for what begins otherwise.
    init?(_ text: String) {
        guard let (server, bucket) = ServerAddress.withPath(text), !bucket.isEmpty else {
            return nil
        }
        (self.server, self.bucket) = (server, bucket)
    }

    /// Calls `body` with each page of the bucket as it was when the export began: objects one a line.
    func forEachPage(_ body: ([[UInt8]]) async throws -> Void) async throws {
        do {
            try await LineConnection.with(
                host: server.address.host, port: server.address.port,
                tls: server.usesTLS ? ClientTLS() : nil
            ) { connection in
                if let token = Files.environment("GEOBUCKET_SOURCE_TOKEN") {
                    try await connection.logIn(token: token)
                }
                try await ExportedPieces.forEach(of: bucket, connection) { objects in
                    try await body(objects.map { Array($0.text) })
                }
            }
        } catch let failure as ClientFailure {
            throw CommandFailure(
                failure, at: server.address, usesTLS: server.usesTLS,
                token: "the token in $GEOBUCKET_SOURCE_TOKEN")
        }
    }
}
