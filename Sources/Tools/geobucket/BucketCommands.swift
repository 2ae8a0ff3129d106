import ArgumentParser
import GeoBucketClient
import Glibc
import Interchange
import JSONText
import Objects

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

    @Flag(help: "Do not ask.")
    var yes = false

    func run() async throws {
        let (bucket, isSure) = (bucket, yes)
        let deleted = try await bucket.server.connect { connection in
            if !isSure {
                let answer = try await connection.call("bucket.count", bucket.params())
                try Self.ask(bucket.bucket, try Self.number("count", in: answer))
            }
            return try Self.number(
                "deleted", in: try await connection.call("bucket.delete", bucket.params()))
        }
        Console.error("the bucket \(bucket.bucket) deleted, with \(counted(deleted, "object"))")
    }

    private static func number(_ name: StaticString, in answer: [UInt8]) throws -> Int {
        try JSONParser.reading(answer) { $0[name]?.number?.exactInt ?? 0 }
    }

    /// - Throws: unless somebody at a terminal agrees.
    private static func ask(_ bucket: String, _ count: Int) throws {
        guard isatty(STDIN_FILENO) == 1, Console.errorIsTerminal else {
            throw ValidationError(
                "the bucket \(bucket) with its \(counted(count, "object")) would be deleted; "
                    + "--yes does it")
        }
        Console.status("Delete the bucket \(bucket) with its \(counted(count, "object"))? [y/N] ")
        guard let line = readLine(), line.lowercased().hasPrefix("y") else {
            throw CommandFailure("nothing was deleted")
        }
    }
}
