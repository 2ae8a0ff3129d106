import GeoBucketClient
import TestSupport

/// Runs `body` with a bucket of a client that is connected to a service of its own.
func withBucket(_ body: @escaping @Sendable (Bucket) async throws -> Void) async throws {
    try await TestService.with { service in
        let address = ServiceAddress(host: "127.0.0.1", port: service.port)
        try await GeoBucketClient.with(address) { try await body($0.bucket("mydata")) }
    }
}

/// "done", or why `body` failed: the code of the service's refusal, or the error in words.
func outcome(_ body: () async throws -> Void) async -> String {
    do {
        try await body()
        return "done"
    } catch ClientFailure.refused(let failure) {
        return failure.errorCode
    } catch {
        return "\(error)"
    }
}
