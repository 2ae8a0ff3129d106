import ArgumentParser
import GeoBucketClient
import JSONText
import Objects

/// `geobucket call`: makes one raw JSON-RPC call.
struct Call: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Make one JSON-RPC call and print its result.",
        discussion: """
            On a terminal bucket.delete and bucket.deleteWhere ask first.

            Example: geobucket call object.get '{"bucket":"airports","id":"RJTT"}'
            """
    )

    @Argument(help: "The method, such as server.info.")
    var method: String

    @Argument(help: ArgumentHelp("Its params as a JSON object.", valueName: "params-json"))
    var params = "{}"

    @OptionGroup var confirmation: Confirmation
    @OptionGroup var server: ServerOption

    func run() async throws {
        let text: [UInt8]
        do {
            text = try JSONParser.reading(Array(params.utf8)) { minifiedJSON($0.text) }
        } catch {
            throw ValidationError("the params are not JSON: \(params)")
        }
        let (method, isSure) = (method, confirmation.yes || !Confirmation.isPossible)
        let result = try await server.connect { connection in
            if !isSure, let what = try await Self.deletion(method, text, connection) {
                try Confirmation.ask(toDelete: what)
            }
            return try await connection.call(method, text)
        }
        try Console.write(result + [UInt8(ascii: "\n")])
    }

    /// What a call would delete of a bucket; nil for a call that deletes no more than one object.
    private static func deletion(
        _ method: String, _ params: [UInt8], _ connection: LineConnection
    ) async throws -> String? {
        let bucket = try JSONParser.reading(params) { $0["bucket"]?.string } ?? ""
        switch method {
        case "bucket.delete":
            let count = try await connection.number("count", of: "bucket.count", params)
            return "the bucket \(bucket) with its \(counted(count, "object"))"
        case "bucket.deleteWhere":
            let dryRun = params.dropLast() + Array(#","dryRun":true}"#.utf8)
            let matches = try await connection.number("matches", of: method, Array(dryRun))
            return "\(counted(matches, "object")) of the bucket \(bucket)"
        default: return nil
        }
    }
}
