import ArgumentParser
import PostgresStore
import ReplicatedBackend

/// The flags of `serve` for a store in PostgreSQL.
struct ClusterFlags: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The file of this node's copy of a store in PostgreSQL; it may be deleted while the node is down. (default: ./geobucket-cache.sqlite)",
            valueName: "path"))
    var cache: String?

    @Option(
        help: ArgumentHelp(
            "What reads on a store in PostgreSQL see: every answered write, wherever it was sent (latest), or what this node already has (local). (default: latest)",
            valueName: "latest|local"))
    var reads: String?

    @Option(
        help: ArgumentHelp(
            "The schema of the tables in PostgreSQL. (default: geobucket)", valueName: "name"))
    var postgresSchema: String?

    @Flag(
        help:
            "Keep a table of all points as geographies in PostgreSQL, for other programs; needs PostGIS."
    )
    var postgresGeometry = false

    private static let defaultCache = "./geobucket-cache.sqlite"
    private static let defaultSchema = "geobucket"

    /// Where the data are if the store is in PostgreSQL; nil if it is a file.
    ///
    /// - Throws: for a flag that only a store in PostgreSQL has.
    func configuration(
        of store: String, _ settings: Settings
    ) throws -> ReplicatedBackend.Configuration? {
        let cache = settings.string("cache", flag: cache)
        let reads = settings.string("reads", flag: reads)
        let schema = settings.string("postgresSchema", flag: postgresSchema)
        let keepsGeometry = try settings.bool("postgresGeometry", flag: postgresGeometry)
        guard PostgresAddress.isAddress(store) else {
            if keepsGeometry {
                throw ValidationError("--postgres-geometry needs a --store in PostgreSQL")
            }
            for (flag, value) in [
                ("--cache", cache), ("--reads", reads), ("--postgres-schema", schema),
            ] where value != nil {
                throw ValidationError("\(flag) needs a --store in PostgreSQL: postgresql://…")
            }
            if store.contains("://") {
                throw ValidationError(
                    "--store: expected a file, or an address that begins with postgresql://")
            }
            return nil
        }
        guard let reads = ReplicatedBackend.Reads(rawValue: reads ?? "latest") else {
            throw ValidationError("--reads: \"\(reads ?? "")\" is neither latest nor local")
        }
        var configuration = ReplicatedBackend.Configuration(
            address: try Self.address(store, schema: schema),
            cache: cache ?? Self.defaultCache, reads: reads)
        configuration.keepsGeometry = keepsGeometry
        return configuration
    }

    /// - Parameter schema: nil for the default.
    static func address(_ store: String, schema: String?) throws -> PostgresAddress {
        do throws(PostgresFailure) {
            return try PostgresAddress(url: store, schema: schema ?? defaultSchema)
        } catch {
            throw ValidationError("\(error)")
        }
    }
}
