import ArgumentParser
import LoadTest
import SyntheticData

/// The flags of `loadtest` for rates and durations.
struct LoadFlags: ParsableArguments {
    @Option(help: "Requests a second. (default: 1000)")
    var rate: Double?

    @Option(
        help: ArgumentHelp("Try several rates, one after the other.", valueName: "from:to:step"))
    var ramp: String?

    @Option(
        help: ArgumentHelp(
            "Search for the highest rate that holds the objective.", valueName: "from:to"))
    var search: String?

    @Option(
        help: ArgumentHelp(
            "A percentile and the latency it must not exceed, such as p99=5ms.",
            valueName: "p=latency"))
    var objective: String?

    @Option(
        help: ArgumentHelp(
            "Connections, 1 to \(LoadSettings.mostConnections), each with one request at a time. "
                + "(default: 50)"))
    var connections: Int?

    @Option(
        help: ArgumentHelp(
            "How long to hold each rate, in seconds without a unit. (default: 30s)",
            valueName: "time"), transform: Measure.secondsArgument)
    var seconds: Double?

    @Option(
        help: ArgumentHelp(
            "The warm-up, which is not counted. (default: 5s)", valueName: "time"),
        transform: Measure.secondsArgument)
    var warmUp: Double?

    @Option(
        help: ArgumentHelp(
            "How long to wait for answers after each rate. (default: 10s)", valueName: "time"),
        transform: Measure.secondsArgument)
    var patience: Double?

    /// - Throws: `ValidationError` that names the flag at fault.
    func settings(
        _ requests: RequestSettings, _ preset: LoadPreset?, watches: Int, centers: [MicroPoint]
    ) throws -> LoadSettings {
        var settings = LoadSettings(plan: try plan(preset), requests: requests)
        let connections = connections ?? preset?.connections ?? 50
        let seconds = seconds ?? preset?.seconds ?? 30
        let (warmUp, patience) = (warmUp ?? 5, patience ?? 10)
        settings.objective = try objective.map { text in
            try usage("--objective") { try Objective(text) }
        }
        if search != nil, objective == nil {
            throw ValidationError("--search needs an --objective")
        }
        guard (1...LoadSettings.mostConnections).contains(connections) else {
            throw ValidationError(
                "--connections has to be 1 to \(LoadSettings.mostConnections)")
        }
        for (flag, value, range) in [
            ("--seconds", seconds, 0.1...86_400), ("--warm-up", warmUp, 0...86_400),
            ("--patience", patience, 0.1...600),
        ] where !range.contains(value) {
            throw ValidationError(
                "\(flag) has to be \(range.lowerBound) to \(range.upperBound) seconds")
        }
        guard (0...LoadSettings.mostWatches).contains(watches) else {
            throw ValidationError("--watches has to be 0 to \(LoadSettings.mostWatches)")
        }
        // A watch is moved on its own connection, whichever is free.
        if requests.mix.weights.contains(where: { $0.kind == .follow }), watches < connections {
            throw ValidationError(
                "--mix follow needs --watches, at least one for each of --connections")
        }
        settings.watches = watches
        settings.connections = connections
        settings.stageSeconds = seconds
        settings.warmUpSeconds = warmUp
        settings.patienceSeconds = patience
        settings.centers = centers
        return settings
    }

    private func plan(_ preset: LoadPreset?) throws -> LoadPlan {
        switch (rate, ramp, search) {
        case (let rate, nil, nil):
            let rate = rate ?? preset?.rate ?? 1_000
            guard rate > 0, rate <= LoadPlan.largestRate else {
                throw ValidationError(
                    "--rate has to be above 0, at most \(Int(LoadPlan.largestRate))")
            }
            return .rate(rate)
        case (nil, let ramp?, nil):
            return try usage("--ramp") { try LoadPlan(ramp: ramp) }
        case (nil, nil, let search?):
            return try usage("--search") { try LoadPlan(search: search) }
        default: throw ValidationError("--rate, --ramp and --search exclude each other")
        }
    }
}
