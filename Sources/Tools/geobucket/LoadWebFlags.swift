import ArgumentParser
import LoadTest
import WebServer

/// The flags of `loadtest` for queries over HTTP instead of the line protocol.
struct LoadWebFlags: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Send the queries to Kii's /query at this web port; --server prepares and samples.",
            valueName: "host:port"))
    var web: Address?

    @Option(help: ArgumentHelp("The id of the service's --kii-app.", valueName: "id"))
    var kiiApp: String?

    @Option(
        help: ArgumentHelp(
            "The application's key. (default: $GEOBUCKET_KII_KEY)", valueName: "key"))
    var kiiKey: String?

    /// The web port and the queries that it takes; nil for the line port.
    ///
    /// - Throws: `ValidationError` for flags that do not go together, and for a load that does not
    ///   go over HTTP.
    func target(_ load: LoadSettings) throws -> (address: Address, queries: WebQueries)? {
        guard let web else {
            for (flag, value) in [("--kii-app", kiiApp), ("--kii-key", kiiKey)] where value != nil {
                throw ValidationError("\(flag) needs --web")
            }
            return nil
        }
        guard let app = kiiApp else { throw ValidationError("--web needs --kii-app") }
        guard KiiSettings.isID(app) else {
            throw ValidationError("--kii-app: \"\(app)\" is no id of an application")
        }
        if let other = load.requests.mix.weights.first(where: { !$0.kind.isQuery }) {
            let queries = RequestKind.allCases.filter(\.isQuery).map(\.rawValue)
            throw ValidationError(
                "--mix: \(other.kind.rawValue) goes to the line port only; with --web there are "
                    + queries.joined(separator: ", "))
        }
        guard load.watches == 0 else {
            throw ValidationError("--watches are on the line port only, not with --web")
        }
        let key = kiiKey ?? Files.environment("GEOBUCKET_KII_KEY")
        return (web, WebQueries(app: app, key: key, bucket: load.requests.bucket))
    }
}
