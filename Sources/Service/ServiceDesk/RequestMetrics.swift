import CoreMetrics
import Objects

/// The metrics of requests, by method.
struct RequestMetrics: Sendable {
    private let methods: [Method]
    private let slow = Counter(label: "geobucket_slow_queries_total")

    private struct Method: Sendable {
        let name: String
        let requests: Counter
        let durations: Timer

        init(name: String) {
            let dimensions = [("method", name)]
            self.name = name
            requests = Counter(label: "geobucket_requests_total", dimensions: dimensions)
            durations = Timer(
                label: "geobucket_request_duration_seconds", dimensions: dimensions)
        }
    }

    init(methodNames: [String]) { methods = methodNames.map(Method.init) }

    /// - Parameters:
    ///   - method: its index in the list of names.
    ///   - errorCode: the error it was answered with; nil for a result.
    func record(method: Int, errorCode: String?, nanoseconds: Int64) {
        let method = methods[method]
        method.requests.increment()
        method.durations.recordNanoseconds(nanoseconds)
        guard let errorCode else { return }
        Counter(
            label: "geobucket_request_errors_total",
            dimensions: [("method", method.name), ("code", errorCode)]
        ).increment()
    }

    func recordSlow() { slow.increment() }
}
