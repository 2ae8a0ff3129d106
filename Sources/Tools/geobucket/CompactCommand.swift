import ArgumentParser
import GeoBucketClient
import JSONText
import Objects

/// `geobucket compact`: gives free pages of a service's store back to the file system.
struct CompactCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "compact",
        abstract: "Give the free pages of a service's store back to the file system.",
        discussion: """
            The service goes on meanwhile; for administrators. It gives pages back by itself when more \
            than an eighth of the file is free. A store that an earlier version has made is written anew \
            first: writes wait for that, and the disk needs room for a second copy.
            """)

    @OptionGroup var server: ServerOption

    /// Calls after which a number of free pages that does not fall is what writes leave behind.
    private static let patience = 8

    func run() async throws {
        try await server.connect { connection in
            var progress = ProgressLine()
            let before = try await connection.number(
                "storeBytes", of: "server.stats", Array("{}".utf8))
            var (least, idle, state) = (Int.max, 0, try await Self.step(connection))
            while state.more, idle < Self.patience {
                idle = state.freePages < least ? 0 : idle + 1
                least = min(least, state.freePages)
                progress.show("\(counted(state.freePages, "page")) left")
                state = try await Self.step(connection)
            }
            progress.clear()
            let given = max(before - state.storeBytes, 0)
            try Console.write(
                "\(Amounts.bytes(given)) given back: the store has "
                    + "\(Amounts.bytes(state.storeBytes)), and \(counted(state.freePages, "free page"))\n"
            )
        }
    }

    private static func step(
        _ connection: LineConnection
    ) async throws -> (freePages: Int, storeBytes: Int, more: Bool) {
        let answer = try await connection.call("store.compact", Array("{}".utf8))
        return try JSONParser.reading(answer) { view in
            (
                view["freePages"]?.number?.exactInt ?? 0,
                view["storeBytes"]?.number?.exactInt ?? 0, view["more"]?.bool ?? false
            )
        }
    }
}
