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
    /// The service's own cost in a stage, from its counters in the samples of that stage.
    struct ServiceCost {
        /// The average number of busy processors.
        var processors: Double
        var microsecondsPerRequest: Double
    }

    /// Nil if the stage has fewer than two samples.
    func serviceCost(in stage: Stage) -> ServiceCost? {
        let time = stage.begin...(stage.begin + stage.seconds)
        let inside = samples.filter { time.contains($0.seconds) }
        var (cpuSeconds, seconds, requests) = (0.0, 0.0, 0.0)
        for (before, after) in zip(inside, inside.dropFirst()) {
            // A restart resets the service's counters.
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
