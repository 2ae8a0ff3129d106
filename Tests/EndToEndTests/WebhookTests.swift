import Foundation
import Glibc
import JSONText
import TestSupport
import Testing

/// `Examples/webhooks`: nothing that a watch tells is lost on the way to a URL.
@Suite(.timeLimit(.minutes(4))) struct WebhookTests {
    private static let python = ["/usr/bin/python3", "/usr/local/bin/python3"].first {
        FileManager.default.isExecutableFile(atPath: $0)
    }

    /// Notes each body that it takes in a file. Now and then it refuses one, or notes it and hangs up.
    private static let receiver = """
        import http.server, sys
        count = 0
        class Receiver(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                global count
                count += 1
                body = self.rfile.read(int(self.headers["Content-Length"]))
                if count % 5 == 2:
                    return self.send_error(503)
                with open(sys.argv[1], "ab") as file:
                    file.write(body + b"\\n")
                if count % 5 == 4:
                    return self.connection.close()
                self.send_response(204)
                self.end_headers()
            def log_message(self, *arguments):
                pass
        server = http.server.HTTPServer(("127.0.0.1", 0), Receiver)
        print(server.server_port, flush=True)
        server.serve_forever()
        """

    @Test(.enabled(if: python != nil, "no python3"))
    func `A receiver that fails, a service and a program that are killed: all is delivered`()
        async throws
    {
        let python = try #require(Self.python)
        try await withTemporaryFolder { folder in
            try Self.receiver.write(
                toFile: folder + "/receiver.py", atomically: true, encoding: .utf8)
            let bodies = folder + "/bodies"
            let receiver = try ChildProcess.start(
                python, [folder + "/receiver.py", bodies], folder: folder)
            while !receiver.standardOutput.hasSuffix("\n") {
                try await Task.sleep(for: .milliseconds(5))
            }
            let url = "http://127.0.0.1:\(receiver.standardOutput.dropLast())/hook"
            func program(_ port: Int) throws -> ChildProcess {
                try ChildProcess.start(
                    python,
                    [
                        Program.packageRoot + "/Examples/webhooks/webhooks.py", "127.0.0.1",
                        "\(port)", "couriers", url, "--place", folder + "/place", "--query",
                        #"{"clause":{"type":"range","field":"n","lowerLimit":50}}"#,
                    ], folder: folder)
            }
            let store = folder + "/store.sqlite"
            var random = SplitMix64(seed: 4)
            var truth: [String: Int] = [:]
            var hook: ChildProcess?
            var port = 0
            for round in 0..<4 {
                port = try await Program.serve(store: store, folder: folder, port: port) {
                    _, port in
                    if hook == nil { hook = try program(port) }
                    for _ in 0..<12 {
                        try await Self.write(&truth, &random, port, folder)
                    }
                    if round.isMultiple(of: 2) {
                        await hook!.killAndWait()
                        hook = try program(port)
                    }
                    if round == 3 {
                        while try Self.delivered(bodies) != truth.filter({ $0.value >= 50 }) {
                            try await Task.sleep(for: .milliseconds(20))
                        }
                    }
                    return port
                }
            }
            await hook!.killAndWait()
            await receiver.killAndWait()
            #expect(try Self.delivered(bodies) == truth.filter { $0.value >= 50 })
        }
    }

    @Test(
        .enabled(if: python != nil, "no python3"),
        arguments: [
            (["htp://x"], "expected http://… or https://…"), (["http://"], "expected http://"),
            (["http://x:99999/"], "expected http://"), (["http://x/a b"], "expected http://"),
            (["http://x", "--query", "{"], "it is not JSON"), ([], "are required: url"),
        ] as [([String], String)])
    func `What can never be delivered is refused at the start`(
        _ arguments: [String], _ words: String
    ) async throws {
        let python = try #require(Self.python)
        try await withTemporaryFolder { folder in
            let script = Program.packageRoot + "/Examples/webhooks/webhooks.py"
            let hook = try ChildProcess.start(
                python, [script, "127.0.0.1", "1", "couriers"] + arguments, folder: folder)
            #expect(await hook.end() == 2)
            #expect(hook.standardError.contains(words), "\(hook.standardError)")
        }
    }

    /// One call: an object is put or deleted.
    private static func write(
        _ truth: inout [String: Int], _ random: inout SplitMix64, _ port: Int, _ folder: String
    ) async throws {
        let (id, n) = ("c-\(random.below(8))", random.below(100))
        let isDeleted = truth[id] != nil && random.oneIn(4)
        let object = isDeleted ? "" : #","object":{"n":\#(n)}"#
        truth[id] = isDeleted ? nil : n
        let run = try await Program.run(
            [
                "call", isDeleted ? "object.delete" : "object.put",
                #"{"bucket":"couriers","id":"\#(id)"\#(object)}"#, "--server", "127.0.0.1:\(port)",
            ], folder: folder)
        #expect(run.status == 0, "\(run.errors)")
    }

    /// What a receiver has that does what the bodies say.
    private static func delivered(_ bodies: String) throws -> [String: Int] {
        var objects: [String: Int] = [:]
        func put(_ object: JSONValue) { objects[object["_id"]!.string!] = object["n"]!.int! }
        let text = String(
            decoding: FileManager.default.contents(atPath: bodies) ?? Data(), as: UTF8.self)
        for line in text.split(separator: "\n") {
            let body = try JSONValue(parsing: String(line))
            if let snapshot = body["snapshot"]?.array {
                if body["part"]?.int == 0 { objects = [:] }
                snapshot.forEach(put)
            }
            for event in body["events"]?.array ?? [] {
                if let object = event["object"] {
                    put(object)
                } else {
                    objects[event["_id"]!.string!] = nil
                }
            }
        }
        return objects
    }
}
