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
    /// What the service itself took in a stage, by what it counted between the first and the last
    /// sample in it.
    struct ServiceCost {
        /// Processors that were busy.
        var processors: Double
        var microsecondsPerRequest: Double
    }

    /// Nil where fewer than two samples lie in the stage.
    func serviceCost(in stage: Stage) -> ServiceCost? {
        let time = stage.begin...(stage.begin + stage.seconds)
        let inside = samples.filter { time.contains($0.seconds) }
        guard let first = inside.first, let last = inside.last,
            let before = first.numbers["cpuSeconds"], let after = last.numbers["cpuSeconds"],
            last.seconds > first.seconds, last.requests > first.requests
        else { return nil }
        return ServiceCost(
            processors: (after - before) / (last.seconds - first.seconds),
            microsecondsPerRequest: (after - before) / (last.requests - first.requests) * 1e6)
    }
}
