import ArgumentParser
import BackendContract
import PostgresBackend

/// `geobucket cluster`: what concerns all nodes of a cluster.
struct ClusterCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cluster",
        abstract: "Manage the store in PostgreSQL that the nodes of a cluster share.",
        subcommands: [NewHistory.self])

    struct NewHistory: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "new-history",
            abstract: "Begin another history, after PostgreSQL was restored from a backup.",
            discussion: """
                A restored store gives the numbers of lost changes to other changes. A node notices \
                that by its cache. If the caches of the nodes are gone as well, run this before you \
                start the nodes. Resume tokens of watches, and the states that ifState and ETags \
                compare, are then not honoured: clients get everything anew. Objects, page keys and \
                request keys stay. Nodes that are running copy everything anew.
                """)

        @Option(
            help: ArgumentHelp(
                "The store. (default: $GEOBUCKET_STORE)", valueName: "postgresql://…"))
        var store: String?

        @Option(
            help: ArgumentHelp(
                "The schema of the tables. (default: $GEOBUCKET_POSTGRES_SCHEMA, else geobucket)",
                valueName: "name"))
        var postgresSchema: String?

        func run() throws {
            guard let store = store ?? Files.environment("GEOBUCKET_STORE"),
                PostgresAddress.isAddress(store)
            else { throw ValidationError("expected a --store in PostgreSQL: postgresql://…") }
            let schema = postgresSchema ?? Files.environment("GEOBUCKET_POSTGRES_SCHEMA")
            let address = try ClusterFlags.address(store, schema: schema)
            try Console.write(
                "another history begins after change \(try Self.begin(at: address))\n")
        }

        private static func begin(at address: PostgresAddress) throws -> ChangeNumber {
            do {
                return try ClusterTables.beginEpoch(at: address)
            } catch {
                throw CommandFailure("no other history begins: \(error)")
            }
        }
    }
}
