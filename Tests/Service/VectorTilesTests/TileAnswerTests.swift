import GISSites
import TestSupport
import Testing
import WebExchange
import WebServer

/// The web port has the clusters of its tiles from the engine; `LineOperations` reads them from the
/// JSON that a client gets, as a node does that asks another.
@Suite struct TileAnswerTests {
    private static let settings = WebPort.Settings(
        host: "127.0.0.1", port: 0, hosts: .loopback)

    private static let targets = [
        "/tiles/b1/0/0/0.mvt", "/tiles/b1/0/0/0.mvt?filter=n%20%3D%203",
        "/tiles/b1/0/0/0.mvt?fields=n,s,p", "/tiles/b1/0/0/0.mvt?fields=",
        "/tiles/b1/1/0/1.mvt", "/tiles/b1/1/1/0.mvt?filter=n%20%3C%202", "/tiles/b1/3/4/3.mvt",
        "/tiles/b1/20/0/0.mvt", "/tiles/b1@other/0/0/0.mvt", "/tiles/none/0/0/0.mvt",
        "/tiles/b1.json", "/tiles/b1.json?filter=n%20%3D%203&fields=n", "/tiles/none.json",
        "/tiles/b1/0/0/0.mvt?filter=n%20%3D", "/tiles/b1/0/0/0.mvt?query=%7B%7D",
        "/tiles/b1/0/0/0.mvt?query=%7B%22clause%22%3A1%7D",
        "/tiles/b1.json?query=%7B%22clause%22%3A%7B%22type%22%3A%22no%22%7D%7D",
    ]

    @Test(arguments: [1, 2] as [UInt64])
    func `Tiles from the engine are those that the JSON of clusters makes`(
        seed: UInt64
    ) async throws {
        try await TestService.with(web: Self.settings) { service in
            var random = SplitMix64(seed: seed)
            let tiled = TiledService(service: service)
            try await tiled.store(
                (0..<(seed == 1 ? 1_500 : 200)).map { number in
                    let places = (0..<(random.oneIn(5) ? 3 : 1)).map { _ in
                        point(random.number(-90...90), random.number(-180...180))
                    }
                    let members = #""n":\#(random.below(7)),"s":"\"é,\#(number)","#
                    return ("o\(number)", members + #""p":[\#(places.joined(separator: ","))]"#)
                })
            for target in Self.targets {
                let web = try await onBlockingThreads {
                    try HTTPAnswer(port: service.webPort, path: target)
                }
                var expected: WebAnswer
                do {
                    expected = try await tiled.site.answer(WebRequest(.get, target))
                } catch let failure as WebFailure {
                    expected = failure.answer
                }
                let text = String(decoding: expected.bytes ?? [], as: UTF8.self)
                #expect(web.status == expected.status.code, "seed \(seed), \(target)")
                #expect(web.body == text, "seed \(seed), \(target)")
                #expect(web.field("etag") == expected.headers[.eTag], "seed \(seed), \(target)")
            }
        }
    }
}
