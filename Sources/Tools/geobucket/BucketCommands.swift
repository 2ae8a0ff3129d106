import ArgumentParser
import GeoBucketClient
import Interchange
import JSONText
import Objects
import QueryLanguage

/// `geobucket buckets`: lists buckets with their counts.
struct BucketsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "buckets", abstract: "List the buckets with their numbers of objects.")

    @Option(help: "Those of a scope, such as users/alice. (default: the application's own)")
    var scope: String?

    @OptionGroup var server: ServerOption

    @Option(help: "table, json, ndjson or csv.")
    var format = OutputFormat.table

    func validate() throws {
        if format == .geojson { throw ValidationError("a list of buckets has no GeoJSON") }
    }

    func run() async throws {
        var options = WritingOptions()
        options.columns = ["bucket", "objects", "place"]
        options.width = Console.columns
        options.isBold = Console.takesStyle
        let (scope, format) = (scope, format)
        try await server.connect { [options] connection in
            var writer = format.writer(options)
            var output: [UInt8] = []
            try await BucketList.forEachPage(of: scope, connection) { buckets in
                for bucket in buckets { try writer.write(Array(bucket.text), to: &output) }
            }
            try writer.finish(to: &output)
            try Console.write(output)
        }
    }
}

/// `geobucket drop`: deletes a bucket.
struct DropCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "drop", abstract: "Delete a bucket with all its objects.",
        discussion: "Asks first on a terminal; elsewhere it needs --yes.")

    @OptionGroup var bucket: BucketArgument

    @OptionGroup var confirmation: Confirmation

    func run() async throws {
        let (bucket, isSure) = (bucket, confirmation.yes)
        let deleted = try await bucket.server.connect { connection in
            if !isSure {
                let count = try await connection.number(
                    "count", of: "bucket.count", bucket.params())
                try Confirmation.ask(
                    toDelete: "the bucket \(bucket.bucket) with its \(counted(count, "object"))")
            }
            return try await connection.number("deleted", of: "bucket.delete", bucket.params())
        }
        Console.error("the bucket \(bucket.bucket) deleted, with \(counted(deleted, "object"))")
    }
}

/// `geobucket delete-where`: deletes the objects that match.
struct DeleteWhereCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete-where", abstract: "Delete the objects that match.",
        discussion: """
            Takes the same conditions as `geobucket query`, at least one. Asks first on a terminal; \
            elsewhere it needs --yes. `geobucket drop` deletes a whole bucket.

            Example: geobucket delete-where --bucket airports --where 'kind = closed' --dry-run
            """)

    @OptionGroup var selection: ClauseOptions
    @OptionGroup var confirmation: Confirmation
    @OptionGroup var server: ServerOption

    @Flag(help: "Print how many objects would be deleted, and delete none.")
    var dryRun = false

    func run() async throws {
        let clause = try selection.clause()
        guard clause != .all else {
            throw ValidationError("expected a condition; `geobucket drop` deletes a bucket")
        }
        let request = PageRequest(bucket: selection.bucket, query: Query(clause: clause))
        let (isSure, dryRun) = (confirmation.yes, dryRun)
        let count = try await server.connect { connection in
            if dryRun || !isSure {
                let matches = try await connection.number(
                    "matches", of: "bucket.deleteWhere", request.deletionParams(isDryRun: true))
                if dryRun { return matches }
                try Confirmation.ask(
                    toDelete: "\(counted(matches, "object")) of the bucket \(request.bucket)")
            }
            return try await connection.number(
                "deleted", of: "bucket.deleteWhere", request.deletionParams(isDryRun: false))
        }
        if dryRun {
            try Console.write("\(count)\n")
        } else {
            Console.error("\(counted(count, "object")) deleted")
        }
    }
}

extension LineConnection {
    /// A number in the result of a call; 0 if it is missing.
    func number(_ name: StaticString, of method: String, _ params: [UInt8]) async throws -> Int {
        try JSONParser.reading(try await call(method, params)) { $0[name]?.number?.exactInt ?? 0 }
    }
}
