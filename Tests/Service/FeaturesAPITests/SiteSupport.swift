import GISSites
import GeoBucketClient
import HTTPTypes
import JSONText
import Objects
import ServiceDesk
import Synchronization
import TestSupport
import Testing
import WebExchange
import Wire

/// A site and what it answers.
struct TestSite: Sendable {
    let site: FeaturesSite

    init(_ operations: some WebOperations, now: @escaping @Sendable () -> Int64 = { 0 }) {
        site = FeaturesSite(
            operations: operations, catalog: Catalog(operations: operations, now: now), now: now)
    }

    /// A site over a service with some objects in a bucket.
    static func with<Result: Sendable>(
        _ bucket: String = "shops", _ objects: [String] = [], limits: Limits = Limits(),
        now: @escaping @Sendable () -> Int64 = { 0 },
        _ body: @escaping @Sendable (TestSite, TestService) async throws -> Result
    ) async throws -> Result {
        try await TestService.with(limits: limits) { service in
            for part in stride(from: 0, to: objects.count, by: 500) {
                let some = objects[part..<min(part + 500, objects.count)].joined(separator: ",")
                try await service.call(
                    "object.putMany", #"{"bucket":"\#(bucket)","objects":[\#(some)]}"#)
            }
            return try await body(
                TestSite(LineOperations(service: service, limits: limits), now: now), service)
        }
    }

    func answer(
        _ target: String, method: HTTPRequest.Method = .get, headers: HTTPFields = [:]
    ) async throws(WebFailure) -> WebAnswer {
        try await site.answer(
            WebRequest(method, target, headers: headers, base: "https://geo.example.com"))
    }

    /// The JSON of an answer.
    func json(_ target: String, headers: HTTPFields = [:]) async throws -> JSONValue {
        let answer = try await answer(target, headers: headers)
        #expect(answer.status == .ok)
        return try JSONValue(parsing: try await answer.collected().joined())
    }

    /// Status, error code and path of a refusal; "200" for an answer.
    func outcome(_ target: String, method: HTTPRequest.Method = .get) async -> String {
        do throws(WebFailure) {
            return "\(try await answer(target, method: method).status.code)"
        } catch {
            return "\(error.status.code) \(error.errorCode) \(error.path ?? "-")"
        }
    }

    /// The ids of all features, page by page along the links.
    func ids(_ target: String) async throws -> [String] {
        var ids: [String] = []
        var next: String? = target
        while let address = next {
            let page = try await json(address)
            ids += page.features.compactMap { $0["id"]?.string }
            #expect(page["numberReturned"]?.int == page.features.count)
            next = page.link("next").map { String($0.trimmingPrefix("https://geo.example.com")) }
        }
        return ids
    }
}

extension WebAnswer {
    /// The pieces of the body.
    func collected() async throws -> [[UInt8]] {
        switch body {
        case .whole(let bytes): return [bytes]
        case .streamed(let write):
            let collector = BodyCollector()
            try await write(collector)
            return collector.pieces
        }
    }
}

/// Keeps what is written.
final class BodyCollector: WebBodyWriter {
    private let written = Mutex<[[UInt8]]>([])

    var pieces: [[UInt8]] { written.withLock { $0 } }

    func write(_ piece: [UInt8]) async throws { written.withLock { $0.append(piece) } }
}

extension JSONValue {
    var features: [JSONValue] { self["features"]?.array ?? [] }

    /// The address of a link by its relation.
    func link(_ relation: String) -> String? {
        (self["links"]?.array ?? []).first { $0["rel"]?.string == relation }?["href"]?.string
    }

    init(parsing pieces: FlattenSequence<[[UInt8]]>) throws {
        try self.init(parsing: Array(pieces))
    }
}
