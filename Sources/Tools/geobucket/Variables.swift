import ArgumentParser
import Foundation
import Objects

/// The variables of the environment that mean something here: `GEOBUCKET_…`.
enum Variables {
    private static let ofClients = ["SERVER", "TOKEN", "SOURCE_TOKEN", "TLS_CA"]

    /// What the repository's build, tests and scripts go by; programs that they start inherit them.
    private static let ofDevelopment = [
        "ALSO_INSTALL", "BENCHMARK_DATA", "BUILD", "COMBINED_MINUTES", "COMBINED_SEED",
        "COPIES_FOLDER", "COUNTRIES", "CRASH_ROUNDS", "CRASH_SEED", "DAMAGE_ROUNDS", "DAMAGE_SEED",
        "DATABASE_PASSWORD", "FUZZ", "JSON_CORPUS", "MUTANT", "OPTIMIZED_TESTS", "OWN_MOUNTS",
        "REQUIRE",
        "SECRETS", "TEST_BACKEND", "TEST_GRACE", "TEST_PROGRAM", "TEST_PYTHON", "TEST_SCALE",
        "TEST_SECONDS", "TRY_SECONDS", "WARNINGS_AS_ERRORS",
    ]

    private static var known: Set<String> {
        Set(
            (Settings.names + ["config"]).map(Settings.variable)
                + (ofClients + ofDevelopment).map { "GEOBUCKET_" + $0 })
    }

    /// Refuses names that mean nothing: a mistyped one would leave its setting as it is, unnoticed.
    ///
    /// - Throws: `ValidationError` with the nearest known name.
    static func refuseUnknown() throws {
        let names = ProcessInfo.processInfo.environment.keys
            .filter { $0.hasPrefix("GEOBUCKET_") && !isOfKubernetes($0) }
        guard let unknown = names.sorted().first(where: { !known.contains($0) }) else { return }
        let nearest = nearestName(to: unknown, among: known)
        throw ValidationError(
            "the environment has \(unknown), which is no setting"
                + (nearest.map { "; the nearest is \($0)" } ?? ""))
    }

    /// Whether Kubernetes gives a variable of this name to the pods beside a Service whose name begins
    /// with `geobucket`, such as `GEOBUCKET_SERVICE_HOST` and `GEOBUCKET_PORT_4362_TCP`.
    private static func isOfKubernetes(_ name: String) -> Bool {
        name.contains(#/_(SERVICE_(HOST|PORT(_\w+)?)|PORT(_[0-9]+_(TCP|UDP|SCTP)(_\w+)?)?)$/#)
    }
}
