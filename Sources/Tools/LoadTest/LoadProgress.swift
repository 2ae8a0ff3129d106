/// The progress of a load test.
public struct LoadProgress: Sendable {
    /// The target rate in requests a second.
    public var rate: Double
    /// Whether the stage is the warm-up, whose figures do not count.
    public var isWarmUp: Bool
    /// Seconds since the stage began.
    public var seconds: Double
    /// The last complete interval.
    public var last: LoadReport.Interval
    /// Requests that are due and wait for a connection.
    public var backlog: Int
}

extension LoadProgress {
    /// `5,000/s, 12 s: 4,998 answered, p50 0.21, p99 0.84 ms`
    public var line: String {
        var parts = [
            "\(Figures.number(rate))/s\(isWarmUp ? " (warm-up)" : ""), \(Int(seconds)) s: "
                + "\(Figures.count(last.answered)) answered"
        ]
        if last.failed > 0 { parts.append("\(Figures.count(last.failed)) failed") }
        if let p50 = last.p50, let p99 = last.p99 {
            parts.append(
                "p50 \(Figures.milliseconds(p50)), p99 \(Figures.milliseconds(p99)) ms")
        }
        if backlog > 0 { parts.append("\(Figures.count(backlog)) wait for a connection") }
        return parts.joined(separator: ", ")
    }
}
