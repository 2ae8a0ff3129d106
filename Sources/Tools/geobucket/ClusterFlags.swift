import ArgumentParser
import PostgresBackend
import QueryServer

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

    @Option(
        help: ArgumentHelp(
            "How many of the nodes hold each bucket; 0: each node holds every bucket. (default: 0)",
            valueName: "n"))
    var copies: Int?

    @Option(
        help: ArgumentHelp(
            "With --copies, the secret by which nodes know each other; better given in the environment, as GEOBUCKET_CLUSTER_TOKEN.",
            valueName: "text"))
    var clusterToken: String?

    @Option(
        help: ArgumentHelp(
            "With --copies, the address at which clients reach this node. (default: that of --listen)",
            valueName: "host:port"))
    var advertise: String?

    @Option(
        help: ArgumentHelp(
            "With --copies, the address at which other nodes reach this one. (default: that of --advertise)",
            valueName: "host:port"))
    var advertiseToNodes: String?

    @Option(
        help: ArgumentHelp(
            "With --copies and TLS, the roots of the other nodes' certificates. (default: the system's)",
            valueName: "path"))
    var clusterCa: String?

    private static let defaultCache = "./geobucket-cache.sqlite"
    private static let defaultSchema = "geobucket"

    /// Where the data are if the store is in PostgreSQL; nil if it is a file.
    ///
    /// - Throws: for a flag that only a store in PostgreSQL has.
    func configuration(
        of store: String, _ settings: Settings
    ) throws -> PostgresBackend.Configuration? {
        let cache = settings.string("cache", flag: cache)
        let reads = settings.string("reads", flag: reads)
        let schema = settings.string("postgresSchema", flag: postgresSchema)
        let copies = try copies(settings)
        let keepsGeometry = try settings.bool("postgresGeometry", flag: postgresGeometry)
        guard PostgresAddress.isAddress(store) else {
            if keepsGeometry {
                throw ValidationError("--postgres-geometry needs a --store in PostgreSQL")
            }
            for (flag, value) in [
                ("--cache", cache), ("--reads", reads), ("--postgres-schema", schema),
                ("--copies", copies > 0 ? "\(copies)" : nil),
            ] where value != nil {
                throw ValidationError("\(flag) needs a --store in PostgreSQL: postgresql://…")
            }
            if store.contains("://") {
                throw ValidationError(
                    "--store: expected a file, or an address that begins with postgresql://")
            }
            return nil
        }
        guard let reads = PostgresBackend.Reads(rawValue: reads ?? "latest") else {
            throw ValidationError("--reads: \"\(reads ?? "")\" is neither latest nor local")
        }
        var configuration = PostgresBackend.Configuration(
            address: try Self.address(store, schema: schema),
            cache: cache ?? Self.defaultCache, reads: reads)
        configuration.keepsGeometry = keepsGeometry
        configuration.copies = copies
        return configuration
    }

    /// Whether each node holds some of the buckets only.
    func sharesBuckets(_ settings: Settings) throws -> Bool { try copies(settings) > 0 }

    /// How many nodes hold each bucket; 0 for all.
    private func copies(_ settings: Settings) throws -> Int {
        let copies = try settings.int("copies", flag: copies) ?? 0
        guard (0...1_000).contains(copies) else {
            throw ValidationError("--copies has to be 0 to 1000")
        }
        return copies
    }

    /// What other nodes and clients need to know of a node; nil if each node holds every bucket.
    ///
    /// - Throws: for a flag that only a node with `--copies` has.
    func neighbourhood(_ settings: Settings) throws -> Neighbourhood? {
        let token = settings.string("clusterToken", flag: clusterToken)
        let texts = [
            ("--cluster-token", token), ("--advertise", advertised(settings)),
            ("--advertise-to-nodes", advertisedToNodes(settings)),
            ("--cluster-ca", authority(settings)),
        ]
        guard try copies(settings) > 0 else {
            for (flag, value) in texts where value != nil {
                throw ValidationError("\(flag) needs --copies")
            }
            return nil
        }
        guard let token else { throw ValidationError("--copies needs a --cluster-token") }
        guard token.utf8.count >= NodeSecret.leastBytes else {
            throw ValidationError(
                "--cluster-token has to have at least \(NodeSecret.leastBytes) bytes")
        }
        return Neighbourhood(
            secret: NodeSecret(token),
            clients: try address(advertised(settings), "--advertise"),
            nodes: try address(advertisedToNodes(settings), "--advertise-to-nodes"))
    }

    private func advertised(_ settings: Settings) -> String? {
        settings.string("advertise", flag: advertise)
    }

    private func advertisedToNodes(_ settings: Settings) -> String? {
        settings.string("advertiseToNodes", flag: advertiseToNodes)
    }

    /// The file with the roots of the other nodes' certificates; nil for the system's.
    func authority(_ settings: Settings) -> String? {
        settings.string("clusterCa", flag: clusterCa)
    }

    private func address(_ text: String?, _ flag: String) throws -> Address? {
        guard let text else { return nil }
        guard let address = Address(argument: text) else {
            throw ValidationError("\(flag): \"\(text)\" is no HOST:PORT")
        }
        return address
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
