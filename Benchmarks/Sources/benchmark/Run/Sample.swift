import Workloads

/// How load was put on a peer.
enum Mode: String, Codable {
    /// Each connection sends its next request when it has its answer.
    case closed
    /// Each connection sends its next sixteen requests at once when it has all its answers.
    case pipelined
    /// Requests are sent on time, at half of the peer's own throughput in the closed loop.
    case half
    /// Calls in this process, one after the other.
    case inProcess
    /// Q8's writers; its readers are `closed`.
    case moving

    /// The requests that a connection sends at once.
    var depth: Int { self == .pipelined ? 16 : 1 }
}

/// What was measured of one peer in one round.
struct Sample: Codable {
    /// Everything but the round.
    struct Case: Codable, Hashable {
        var workload: Workload
        var peer: String
        var mode: Mode
        var connections: Int
    }

    var of: Case
    var round: Int
    var answers = 0
    var failures = 0
    var answersPerSecond = 0.0
    /// Microseconds from when a request was due to the end of its answer.
    var p50 = 0.0
    var p99 = 0.0
    /// Microseconds of processor time, user and system, of all of the server's processes.
    var serverCPU = 0.0
    /// Microseconds of processor time of the load generator.
    var generatorCPU = 0.0
    var answerBytes = 0.0
}

extension Sample {
    /// - Parameters:
    ///   - serverSeconds, generatorSeconds: processor time of all groups together.
    ///   - answers: answers of all groups together.
    init(
        of kind: Case, round: Int, _ result: LoadResult, seconds: Double, serverSeconds: Double,
        generatorSeconds: Double, answers all: Int
    ) {
        let perAnswer = 1e6 / Double(max(1, all))
        self.init(
            of: kind, round: round, answers: result.answers, failures: result.failures,
            answersPerSecond: Double(result.answers) / seconds,
            p50: Double(result.latencies.valueAtPercentile(50)) / 1e3,
            p99: Double(result.latencies.valueAtPercentile(99)) / 1e3,
            serverCPU: serverSeconds * perAnswer, generatorCPU: generatorSeconds * perAnswer,
            answerBytes: Double(result.bytes) / Double(max(1, result.answers)))
    }
}
