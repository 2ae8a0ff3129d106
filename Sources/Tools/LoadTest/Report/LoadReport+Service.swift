extension LoadReport.Sample {
    /// Requests of all methods that the service has counted.
    var requests: Double {
        numbers.reduce(0) { sum, entry in
            let isCount = entry.key.hasPrefix("requests.") && entry.key.hasSuffix(".count")
            return isCount ? sum + entry.value : sum
        }
    }
}

extension LoadReport {
    /// What the service itself took in a stage, by what it counted from sample to sample in it.
    struct ServiceCost {
        /// Processors that were busy.
        var processors: Double
        var microsecondsPerRequest: Double
    }

    /// Nil where fewer than two samples lie in the stage.
    func serviceCost(in stage: Stage) -> ServiceCost? {
        let time = stage.begin...(stage.begin + stage.seconds)
        let inside = samples.filter { time.contains($0.seconds) }
        var (cpuSeconds, seconds, requests) = (0.0, 0.0, 0.0)
        for (before, after) in zip(inside, inside.dropFirst()) {
            // A service that was started anew has begun to count anew.
            guard let from = before.numbers["cpuSeconds"], let to = after.numbers["cpuSeconds"],
                to >= from, after.requests >= before.requests
            else { continue }
            cpuSeconds += to - from
            seconds += after.seconds - before.seconds
            requests += after.requests - before.requests
        }
        guard seconds > 0, requests > 0 else { return nil }
        return ServiceCost(
            processors: cpuSeconds / seconds, microsecondsPerRequest: cpuSeconds / requests * 1e6)
    }
}
