import Objects
import TestSupport
import Testing

/// What errors and logs do not tell.
@Suite(.timeLimit(.minutes(20))) struct LeakRules {
    private static func line(_ method: String, _ params: String) -> String {
        #"{"jsonrpc":"2.0","id":1,"method":"\#(method)","params":\#(params)}"# + "\n"
    }

    @Test func `A fault of the service's own is told by a request id, under which the log has it`()
        async throws
    {
        let fault = ServiceFailure(.undefined, "SELECT failed in /var/store.sqlite")
        let log = LogLines()
        try await Servers.serve(FaultyBackend(fault: fault), log: log) { port in
            try RawConnection.with(port: port) { raw in
                try raw.send(Self.line("object.get", #"{"bucket":"shops","id":"o1"}"#))
                let text = try #require(try raw.line())
                #expect(!text.contains("SELECT") && !text.contains("/var"), "\(text)")
                let error = try JSONValue(parsing: text)["error"]
                #expect(error?["code"]?.int == -32_603)
                #expect(error?["data"]?["errorCode"]?.string == "UNDEFINED_ERROR")
                let id = try #require(error?["data"]?["requestId"]?.string)
                let told = log.all.filter { $0.contains(id) }
                #expect(told.count == 1)
                #expect(told.first?.contains("SELECT failed") == true)
            }
        }
    }

    @Test
    func `Log and statistics have no token and no document, whatever goes wrong with them`()
        async throws
    {
        let secret = "tell-nobody"
        let log = LogLines()
        try await Servers.serve(EndlessBackend(), log: log) { port in
            try RawConnection.with(port: port) { raw in
                for line in [
                    Self.line("auth.login", #"{"token":"gbt_1_\#(secret)"}"#),
                    Self.line("auth.login", #"{"token":"\#(secret)","x":1}"#),
                    Self.line(
                        "object.put", #"{"bucket":"shops","id":"o1","object":{"_\#(secret)":1}}"#),
                    Self.line(
                        "object.put", #"{"bucket":"shops","id":"o1","object":{"a":"\#(secret)"}}"#),
                    Self.line(secret, "{}"), "\(secret)\n", "[\"\(secret)\"]\n",
                ] {
                    try raw.send(line)
                    _ = try raw.line()
                }
                try raw.send(Self.line("server.stats", "{}"))
                let statistics = try #require(try raw.line())
                #expect(statistics.contains(#""object.put":{"#), "\(statistics)")
                #expect(!statistics.contains(secret), "\(statistics)")
                try raw.send("{\"\(secret)")
                try raw.resetOnClose()
            }
        }
        #expect(log.all.contains { $0.contains("a login failed") })
        #expect(!log.all.contains { $0.contains(secret) }, "\(log.all)")
    }
}
