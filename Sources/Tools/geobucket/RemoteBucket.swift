import ArgumentParser
import GeoBucketClient
import Interchange
import JSONText
import Objects

/// A bucket of another service, as a source of objects: `geobucket://HOST:PORT/BUCKET`.
struct RemoteBucket {
    private let address: Address
    private let usesTLS: Bool
    let bucket: String

    /// Nil for what begins otherwise.
    init?(_ text: String) {
        let schemes = ["geobucket://": false, "geobuckets://": true]
        guard let (scheme, usesTLS) = schemes.first(where: { text.hasPrefix($0.key) }) else {
            return nil
        }
        let rest = text.dropFirst(scheme.count)
        guard let slash = rest.firstIndex(of: "/") else { return nil }
        let host = String(rest[..<slash])
        let bucket = String(rest[rest.index(after: slash)...])
        guard let address = Address(argument: host.contains(":") ? host : host + ":4362"),
            !bucket.isEmpty
        else { return nil }
        (self.address, self.usesTLS, self.bucket) = (address, usesTLS, bucket)
    }

    /// Calls `body` with each page of the bucket as it was when the export began: objects one a line.
    func forEachPage(_ body: ([[UInt8]]) async throws -> Void) async throws {
        do {
            try await LineConnection.with(
                host: address.host, port: address.port, tls: usesTLS ? ClientTLS() : nil
            ) { connection in
                if let token = Files.environment("GEOBUCKET_SOURCE_TOKEN") {
                    try await connection.logIn(token: token)
                }
                try await ExportedPieces.forEach(of: bucket, connection) { objects in
                    try await body(objects.map { Array($0.text) })
                }
            }
        } catch let failure as ClientFailure {
            throw CommandFailure(failure)
        }
    }
}
