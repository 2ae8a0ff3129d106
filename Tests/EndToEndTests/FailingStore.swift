import Foundation
import GeoBucketClient
import JSONText
import TestSupport
import Testing

/// A service whose store's files fail on demand, and what it said and did.
struct FailingStore {
    let connection: LineConnection
    private let control: String

    /// Runs a service with failing_io.c in it, on a store in `folder`.
    static func serve(
        store: String, folder: String, flags: [String] = [],
        _ body: (FailingStore, ChildProcess) async throws -> Void
    ) async throws {
        let (shim, control) = (folder + "/failing_io.so", folder + "/failing_io")
        if !FileManager.default.fileExists(atPath: shim) {
            _ = try await Shim.build("failing_io", in: folder)
        }
        try Data().write(to: URL(fileURLWithPath: control))
        try await Program.serve(
            store: store, folder: folder, flags: flags,
            environment: ["LD_PRELOAD=\(shim)", "FAILING_IO=\(control)"]
        ) { process, port in
            try await LineConnection.with(host: "127.0.0.1", port: port) { connection in
                try await body(FailingStore(connection: connection, control: control), process)
            }
        }
    }

    /// From now on an operation (open, read, write, sync) on the store's files fails with an error.
    func fail(_ operation: String, _ number: Int32) throws {
        try Data("\(operation) \(number)".utf8).write(to: URL(fileURLWithPath: control))
    }

    /// Everything works again.
    func heal() throws { try Data().write(to: URL(fileURLWithPath: control)) }

    /// How a call ends: its error code, or `accepted`.
    func outcome(_ method: String, _ params: String) async throws -> String {
        do {
            _ = try await connection.call(method, Array(params.utf8))
            return "accepted"
        } catch ClientFailure.refused(let failure) {
            #expect(!failure.message.contains("sqlite"), "it tells a path: \(failure.message)")
            return failure.errorCode
        }
    }

    func put(_ number: Int, padding: Int = 10) async throws -> String {
        let pad = String(repeating: "x", count: padding)
        return try await outcome(
            "object.put",
            #"{"bucket":"b1","id":"o\#(number)","object":{"n":\#(number),"pad":"\#(pad)"}}"#)
    }

    func get(_ number: Int) async throws -> String {
        try await outcome("object.get", #"{"bucket":"b1","id":"o\#(number)"}"#)
    }

    /// An object's text, or the error code.
    func text(_ number: Int) async throws -> String {
        do {
            let params = #"{"bucket":"b1","id":"o\#(number)"}"#
            let answer = try await connection.call("object.get", Array(params.utf8))
            return String(decoding: answer, as: UTF8.self)
        } catch ClientFailure.refused(let failure) {
            return failure.errorCode
        }
    }

    func count() async throws -> Int {
        let answer = try await connection.call("bucket.count", Array(#"{"bucket":"b1"}"#.utf8))
        return try JSONValue(parsing: answer)["count"]!.int!
    }
}
