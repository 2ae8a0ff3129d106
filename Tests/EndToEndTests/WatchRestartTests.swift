import Foundation
import JSONText
import TestSupport
import Testing

/// Watches of a service that stops, or dies.
@Suite(.timeLimit(.minutes(5))) struct WatchRestartTests {
    private static let put = #"{"bucket":"b1","id":"o1","object":{"n":1}}"#

    @Test func `A service that stops says so to each watch, then closes`() async throws {
        try await withTemporaryFolder { folder in
            try await Program.serve(store: folder + "/store.sqlite", folder: folder) {
                process, port in
                try await WatchClient.with(port: port) { client in
                    let watches = try (1...3).map { _ in try client.start() }
                    try client.sync("w3")
                    process.signal(SIGTERM)
                    let rest = try client.remaining()
                    let ends = rest.filter { $0["method"]?.string == "watch.end" }
                    #expect(Set(ends.compactMap { $0["params"]?["watch"]?.string }) == Set(watches))
                    for end in ends {
                        let code = end["params"]?["error"]?["data"]?["errorCode"]?.string
                        #expect(code == "TEMPORARY_UNAVAILABLE_ERROR")
                    }
                    #expect(await process.end() == 0)
                }
            }
        }
    }

    @Test(arguments: [SIGTERM, SIGKILL])
    func `A watch goes on after the service has stopped, or died, and started again`(
        _ signal: Int32
    ) async throws {
        try await withTemporaryFolder { folder in
            let store = folder + "/store.sqlite"
            var resume = ""
            try await Program.serve(store: store, folder: folder) { process, port in
                try await WatchClient.with(port: port) { client in
                    _ = try client.call("object.put", Self.put)
                    let watch = try client.start()
                    try client.sync(watch)
                    resume = try #require(client.resume(watch))
                    _ = try client.call("object.put", Self.put.replacing("o1", with: "o2"))
                }
                process.signal(signal)
                _ = await process.end()
            }
            try await Program.serve(store: store, folder: folder) { _, port in
                try await WatchClient.with(port: port) { client in
                    let params = queryParams(
                        #"{"type":"all"}"#, "", #""resume":"\#(resume)""#, "b1")
                    let answer = try client.call("watch.start", params)
                    #expect(answer["resumed"]?.bool == true)
                    try client.sync("w1")
                    #expect(client.events("w1") == ["enter o2"])
                }
            }
        }
    }
}
