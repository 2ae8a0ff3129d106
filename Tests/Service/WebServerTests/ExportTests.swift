import JSONText
import Objects
import ServiceDesk
import TestSupport
import Testing

/// An export over HTTP goes on in the next request on its connection.
@Suite(.timeLimit(.minutes(5))) struct ExportTests {
    /// Limits by which an export of some hundred objects has several pieces.
    private static var small: Limits {
        var limits = Limits()
        limits.replyBytes = 4_096
        return limits
    }

    /// One request on a connection that goes on, and its answer.
    private static func call(
        _ raw: RawConnection, _ method: String, _ params: String, token: Token? = nil
    ) throws -> JSONValue {
        let body = Web.request(method, params)
        let login = token.map { "Authorization: Bearer \($0.text)\r\n" } ?? ""
        try raw.send(
            "POST /rpc HTTP/1.1\r\nHost: localhost\r\n\(Web.json)\r\n\(login)"
                + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)")
        var length = 0
        while let line = try raw.line(), line != "\r" {
            if line.lowercased().hasPrefix("content-length: ") {
                length = Int(line.dropFirst(16).dropLast()) ?? 0
            }
        }
        return try JSONValue(parsing: try raw.bytes(length))
    }

    private static let begin = #"{"bucket":"shops"}"#
    private static let goOn = #"{"bucket":"shops","continue":true}"#

    /// `UNAUTHORIZED`, `INVALID_INPUT_DATA continue`; nil for an answer.
    private static func refusal(_ answer: JSONValue) -> String? {
        guard let data = answer["error"]?["data"] else { return nil }
        let path = data["path"]?.string.map { " " + $0 } ?? ""
        return (data["errorCode"]?.string ?? "") + path
    }

    @Test func `Its pieces are one state of the bucket, whatever is written between them`()
        async throws
    {
        try await TestService.with(limits: Self.small, web: Web.open) { service in
            try await Web.fill(service, 300)
            let port = service.webPort
            try await onBlockingThreads {
                try RawConnection.with(port: port) { raw in
                    var (ids, pieces) = ([String](), 0)
                    var result = try Self.call(raw, "bucket.export", Self.begin)["result"]
                    while let piece = result {
                        pieces += 1
                        ids += (piece["objects"]?.array ?? []).compactMap { $0["_id"]?.string }
                        guard piece["more"]?.bool == true else { break }
                        for id in ["s\(299 - pieces)", "s\(pieces)"] {
                            let gone = try Self.call(
                                raw, "object.delete", #"{"bucket":"shops","id":"\#(id)"}"#)
                            #expect(Self.refusal(gone) == nil)
                        }
                        result = try Self.call(raw, "bucket.export", Self.goOn)["result"]
                    }
                    #expect(pieces > 5)
                    #expect(ids == (0..<300).map { "s\($0)" })
                    let over = try Self.call(raw, "bucket.export", Self.goOn)
                    #expect(Self.refusal(over) == "INVALID_INPUT_DATA continue")
                }
            }
        }
    }

    @Test func `It is the connection's, and its end is that of the connection`() async throws {
        try await TestService.with(limits: Self.small, web: Web.open) { service in
            try await Web.fill(service, 300)
            let port = service.webPort
            try await onBlockingThreads {
                try RawConnection.with(port: port) { raw in
                    let first = try Self.call(raw, "bucket.export", Self.begin)
                    #expect(first["result"]?["more"]?.bool == true)
                    try RawConnection.with(port: port) { other in
                        let answer = try Self.call(other, "bucket.export", Self.goOn)
                        #expect(Self.refusal(answer) == "INVALID_INPUT_DATA continue")
                        // One of its own does no harm to the first.
                        let own = try Self.call(other, "bucket.export", Self.begin)
                        #expect(own["result"] == first["result"])
                    }
                    let second = try Self.call(raw, "bucket.export", Self.goOn)
                    #expect(Self.refusal(second) == nil)
                    #expect(second["result"]?["objects"] != first["result"]?["objects"])
                    // Begun anew it begins at the beginning.
                    let again = try Self.call(raw, "bucket.export", Self.begin)
                    #expect(again["result"] == first["result"])
                }
            }
        }
    }

    @Test func `It is its principal's: another one on the connection does not go on with it`()
        async throws
    {
        var file = TokenFile()
        let tokens = try ["alice", "bob"].map { name in
            let token = Token()
            file.add(.init(token, try Grant(principal: name, role: .admin), created: 0))
            return token
        }
        let access = AccessControl(tokens: file)
        try await TestService.with(
            limits: Self.small, access: access, web: Web.guarded
        ) { service in
            try await service.call("auth.login", #"{"token":"\#(tokens[0].text)"}"#)
            try await service.call(
                "object.putMany",
                #"{"bucket":"users/alice/notes","objects":[\#(Array(repeating: #"{"text":"secret"}"#, count: 200).joined(separator: ","))]}"#
            )
            let port = service.webPort
            let (begin, goOn) = (
                #"{"bucket":"users/alice/notes"}"#,
                #"{"bucket":"users/alice/notes","continue":true}"#
            )
            try await onBlockingThreads {
                try RawConnection.with(port: port) { raw in
                    let first = try Self.call(raw, "bucket.export", begin, token: tokens[0])
                    #expect(first["result"]?["more"]?.bool == true)
                    let second = try Self.call(raw, "bucket.export", goOn, token: tokens[0])
                    #expect(second["result"]?["more"]?.bool == true)
                    let other = try Self.call(raw, "bucket.export", goOn, token: tokens[1])
                    #expect(Self.refusal(other) == "INVALID_INPUT_DATA continue")
                    let nobody = try Self.call(raw, "bucket.export", goOn)
                    #expect(Self.refusal(nobody) == "UNAUTHORIZED")
                }
                try RawConnection.with(port: port) { raw in
                    _ = try Self.call(raw, "bucket.export", begin, token: tokens[0])
                    // A token that is revoked meanwhile ends it too.
                    access.replace(TokenFile())
                    let revoked = try Self.call(raw, "bucket.export", goOn, token: tokens[0])
                    #expect(revoked["error"] != nil || revoked["errorCode"] != nil)
                }
            }
        }
    }
}
