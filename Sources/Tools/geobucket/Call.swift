import ArgumentParser
import GeoBucketClient
import JSONText

/// `geobucket call`: makes one raw JSON-RPC call.
struct Call: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Make one JSON-RPC call and print its result.",
        discussion: "Example: geobucket call object.get '{\"bucket\":\"airports\",\"id\":\"RJTT\"}'"
    )

    @Argument(help: "The method, such as server.info.")
    var method: String

    @Argument(help: ArgumentHelp("Its params as a JSON object.", valueName: "params-json"))
    var params = "{}"

    @OptionGroup var server: ServerOption

    func run() async throws {
        let text: [UInt8]
        do {
            text = try JSONParser.reading(Array(params.utf8)) { minifiedJSON($0.text) }
        } catch {
            throw ValidationError("the params are not JSON: \(params)")
        }
        let result = try await server.connect { try await $0.call(method, text) }
        try Console.write(result + [UInt8(ascii: "\n")])
    }
}
