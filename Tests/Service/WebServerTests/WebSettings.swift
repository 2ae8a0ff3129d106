import Objects
import ServiceDesk
import TestSupport
import WebServer

/// Services with a web port, and requests to them.
enum Web {
    /// Everybody may ask, from this machine.
    static let open = WebPort.Settings(host: "127.0.0.1", port: 0, hosts: .loopback)
    /// Callers log in.
    static let guarded = WebPort.Settings(host: "127.0.0.1", port: 0, hosts: .any)

    static let json = "Content-Type: application/json"

    static func rpc(
        _ port: Int, _ body: String, headers: [String] = [json]
    ) async throws -> HTTPAnswer {
        try await onBlockingThreads {
            try HTTPAnswer(port: port, path: "/rpc", method: "POST", headers: headers, body: body)
        }
    }

    static func get(_ port: Int, _ path: String, headers: [String] = []) async throws -> HTTPAnswer
    {
        try await onBlockingThreads { try HTTPAnswer(port: port, path: path, headers: headers) }
    }

    static func request(_ method: String, _ params: String, id: Int = 1) -> String {
        #"{"jsonrpc":"2.0","id":\#(id),"method":"\#(method)","params":\#(params)}"#
    }

    /// Objects along the equator, in the bucket `shops`.
    static func fill(_ service: TestService, _ count: Int) async throws {
        let objects = (0..<count).map {
            #"{"_id":"s\#($0)","n":\#($0),"at":{"_type":"point","lat":0,"lon":\#($0 % 180)}}"#
        }
        try await service.call(
            "object.putMany", #"{"bucket":"shops","objects":[\#(objects.joined(separator: ","))]}"#)
    }
}
