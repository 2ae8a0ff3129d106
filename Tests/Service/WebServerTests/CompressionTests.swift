import HTTPTypes
import JSONText
import Objects
import TestSupport
import Testing
import WebExchange

@testable import WebServer

/// gzip of answers and of the bodies of requests.
@Suite(.timeLimit(.minutes(5))) struct CompressionTests {
    private static func unpacked(_ bytes: [UInt8]) throws -> [UInt8] {
        var gunzip = Gunzip()
        var body: [UInt8] = []
        try bytes.withUnsafeBytes { try gunzip.unpack($0, into: &body) { _ in } }
        let isWhole = gunzip.isWhole
        #expect(isWhole)
        return body
    }

    /// The body of an answer, without the lengths of chunks.
    private static func body(_ answer: HTTPAnswer) throws -> [UInt8] {
        guard answer.field("transfer-encoding") == "chunked" else { return answer.bytes }
        var (rest, body) = (answer.bytes[...], [UInt8]())
        while let end = rest.firstIndex(of: 0x0D) {
            let length = try #require(Int(String(decoding: rest[..<end], as: UTF8.self), radix: 16))
            body += rest[(end + 2)...].prefix(length)
            rest = rest[(end + 2)...].dropFirst(length + 2)
        }
        return body
    }

    // MARK: The format

    @Test(arguments: Seeds.first(4))
    func `What is compressed piece by piece unpacks to the same`(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        for _ in 0..<50 {
            var (gzip, packed, plain) = (Gzip(), [UInt8](), [UInt8]())
            for _ in 0..<random.below(5) {
                let range = random.oneIn(2) ? 4 : 256
                let piece = (0..<random.below(random.oneIn(9) ? 200_000 : 500)).map { _ in
                    UInt8(random.below(range))
                }
                packed += gzip.compress(piece)
                plain += piece
            }
            packed += gzip.end()
            #expect(try Self.unpacked(packed) == plain, "seed \(seed)")
            guard packed.count > 20 else { continue }
            // A byte that is missing, or another, is noticed at the end at the latest.
            var damaged = packed
            damaged[packed.count - 5] ^= 1
            var gunzip = Gunzip()
            var body: [UInt8] = []
            #expect(throws: WebFailure.self, "seed \(seed)") {
                try damaged.withUnsafeBytes { try gunzip.unpack($0, into: &body) { _ in } }
            }
        }
    }

    // MARK: Answers

    @Test func `Answers are in gzip where that is accepted and pays`() async throws {
        try await TestService.with(web: Web.open) { service in
            try await Web.fill(service, 3_000)
            for path in [
                "/ogc/collections/shops/items?limit=500", "/ogc/collections/shops/items?limit=3000",
                "/tiles/shops/0/0/0.mvt?filter=n%20%3C%20400", "/map/map.css",
                "/map/countries.json", "/ogc/api",
            ] {
                let plain = try await Web.get(service.webPort, path)
                #expect(plain.field("content-encoding") == nil && plain.status == 200, "\(path)")
                #expect(plain.field("vary") == "accept-encoding", "\(path)")
                let packed = try await Web.get(
                    service.webPort, path, headers: ["Accept-Encoding: br;q=1, gzip;q=0.5"])
                #expect(packed.field("content-encoding") == "gzip", "\(path)")
                let body = try Self.body(packed)
                let expected = try Self.body(plain)
                #expect(body.count < expected.count * 3 / 4, "\(path)")
                let found = try Self.unpacked(body)
                // A list of features tells the time.
                if path.contains("items") {
                    #expect(found.count == expected.count, "\(path)")
                } else {
                    #expect(found == expected, "\(path)")
                }
                let tags = [plain, packed].map { $0.field("etag") }
                if let tag = tags[0] { #expect(tags[1] == "w/" + tag, "\(path)") }
                if let tag = tags[1] {
                    let again = try await Web.get(
                        service.webPort, path,
                        headers: ["Accept-Encoding: gzip", "If-None-Match: W/\(tag.dropFirst(2))"])
                    #expect(again.status == 304 && again.bytes.isEmpty, "\(path)")
                }
            }
            for (path, accepts) in [
                ("/map/countries.json", "gzip;q=0"), ("/map/countries.json", "br, identity"),
                ("/tiles/shops.json?fields=n", "gzip"), ("/ogc/collections/none", "gzip"),
            ] {
                let answer = try await Web.get(
                    service.webPort, path, headers: ["Accept-Encoding: \(accepts)"])
                #expect(answer.field("content-encoding") == nil, "\(path) \(accepts)")
            }
        }
    }

    // MARK: Requests

    private static func post(
        _ port: Int, _ body: [UInt8], encoding: String = "gzip", more: [String] = []
    ) async throws -> HTTPAnswer {
        try await onBlockingThreads {
            try HTTPAnswer(
                port: port, path: "/rpc", method: "POST",
                headers: [Web.json, "Content-Encoding: \(encoding)"] + more, bytes: body)
        }
    }

    @Test func `A body may be gzip, within the limit of what it unpacks to`() async throws {
        var limits = Limits()
        limits.lineBytes = 4_000
        try await TestService.with(limits: limits, web: Web.open) { service in
            let port = service.webPort
            let call = Array(Web.request("bucket.count", #"{"bucket":"shops"}"#).utf8)
            for encoding in ["gzip", "x-gzip", "GZIP"] {
                let answer = try await Self.post(port, Gzip.compressed(call), encoding: encoding)
                #expect(answer.body.contains(#""count":0"#), "\(answer.body)")
            }
            let long = call + [UInt8](repeating: 0x20, count: 1_000_000)
            let bomb = Gzip.compressed(long)
            #expect(bomb.count < 4_000)
            #expect(try await Self.post(port, bomb).status == 413)
            let packed = Gzip.compressed(call)
            for (body, message) in [
                (call, "no valid gzip"), (Array(packed.dropLast(4)), "has no end"),
                (packed + [0], "behind the end"), (packed + packed, "behind the end"),
            ] {
                let answer = try await Self.post(port, body)
                #expect(answer.status == 400 && answer.body.contains(message), "\(answer.body)")
            }
            let other = try await Self.post(port, call, encoding: "br")
            #expect(other.status == 415 && other.field("accept-encoding") == "gzip")
        }
    }

    @Test func `A client that waits for it is asked for its body`() async throws {
        try await TestService.with(web: Web.open) { service in
            try await onBlockingThreads {
                try RawConnection.with(port: service.webPort) { raw in
                    let body = Web.request("server.ping", "{}")
                    try raw.send(
                        "POST /rpc HTTP/1.1\r\nHost: localhost\r\n\(Web.json)\r\n"
                            + "Content-Length: \(body.utf8.count)\r\nExpect: 100-continue\r\n\r\n")
                    #expect(try raw.line() == "HTTP/1.1 100 Continue\r")
                    while let line = try raw.line(), line != "\r" {
                        #expect(!line.contains("close"))
                    }
                    try raw.send(body)
                    #expect(try raw.line() == "HTTP/1.1 200 OK\r")
                }
                try RawConnection.with(port: service.webPort) { raw in
                    try raw.send(
                        "POST /rpc HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999999\r\n"
                            + "\(Web.json)\r\nExpect: 100-continue\r\n\r\n")
                    #expect(try raw.line()?.hasPrefix("HTTP/1.1 413") == true)
                }
            }
        }
    }
}
