import WebExchange

/// OGC API Features: the paths below `/ogc`.
public struct FeaturesSite: Sendable {
    private let operations: any WebOperations

    /// Answers with the operations of a service.
    public init(operations: any WebOperations) { self.operations = operations }

    /// Answers a request.
    public func answer(_ request: WebRequest) async throws(WebFailure) -> WebAnswer {
        throw .notFound
    }
}
