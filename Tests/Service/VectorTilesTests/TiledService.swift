import GeoBucketClient
import HTTPTypes
import JSONText
import Objects
import ServiceDesk
import SwiftProtobuf
import TestSupport
import WebExchange
import Wire

@testable import GISSites

/// A service in this process, its tiles, and what was asked of it.
struct TiledService {
    let service: TestService
    var limits = Limits()

    /// Runs `body` with a service of its own.
    static func with(
        path: String? = nil, limits: Limits = Limits(), clock: TestClock = TestClock(1_000_000),
        _ body: @escaping @Sendable (TiledService) async throws -> Void
    ) async throws {
        try await TestService.with(path: path, limits: limits, clock: clock) {
            try await body(TiledService(service: $0, limits: limits))
        }
    }

    /// Its tiles.
    var site: TileSite {
        let operations = LineOperations(service: service, limits: limits)
        return TileSite(
            operations: operations, catalog: Catalog(operations: operations) { 1_000_000 })
    }

    /// The answer to a GET.
    func get(_ target: String, ifNoneMatch: String? = nil) async throws -> WebAnswer {
        let headers: HTTPFields = ifNoneMatch.map { [.ifNoneMatch: $0] } ?? [:]
        return try await site.answer(
            WebRequest(.get, target, headers: headers, base: "https://geo.example.com"))
    }

    /// The layers of a tile by name.
    func tile(
        _ name: String, _ parameters: String = "", of collection: String = "b1"
    ) async throws -> [String: MVTLayer] {
        let answer = try await get("/tiles/\(collection)/\(name).mvt\(parameters)")
        let tile = try MVTTile(serializedBytes: answer.bytes ?? [])
        return Dictionary(uniqueKeysWithValues: tile.layers.map { ($0.name, $0) })
    }

    /// The status and the place of a failure; nil for an answer.
    func refusal(_ target: String) async -> String? {
        do {
            _ = try await get(target)
            return nil
        } catch let failure as WebFailure {
            return "\(failure.status.code) \(failure.path ?? "-")"
        } catch {
            return "\(error)"
        }
    }

    /// Stores objects; each text is the members without braces.
    func store(_ objects: [(id: String, members: String)], in bucket: String = "b1") async throws {
        for start in stride(from: 0, to: objects.count, by: 500) {
            let texts = objects[start..<min(start + 500, objects.count)].map {
                #"{"_id":"\#($0.id)",\#($0.members)}"#
            }
            try await service.call(
                "object.putMany",
                #"{"bucket":"\#(bucket)","objects":[\#(texts.joined(separator: ","))]}"#)
        }
    }
}

extension MVTLayer {
    /// The attributes of a feature, as texts.
    func attributes(_ feature: MVTFeature) -> [String: String] {
        var found: [String: String] = [:]
        for tag in stride(from: 0, to: feature.tags.count, by: 2) {
            let value = values[Int(feature.tags[tag + 1])]
            let text =
                value.hasStringValue
                ? value.stringValue
                : value.hasUintValue
                    ? String(value.uintValue)
                    : value.hasSintValue
                        ? String(value.sintValue)
                        : value.hasDoubleValue
                            ? "double \(value.doubleValue)" : "\(value.boolValue)"
            found[keys[Int(feature.tags[tag])]] = text
        }
        return found
    }

    var all: [[String: String]] { features.map(attributes) }
}

extension MVTFeature {
    /// The points, by the specification's section 4.3.
    var points: [[Int]] {
        func value(_ parameter: UInt32) -> Int { Int(parameter >> 1) ^ -Int(parameter & 1) }
        precondition(geometry[0] & 7 == 1 && geometry.count == 1 + 2 * Int(geometry[0] >> 3))
        var (x, y) = (0, 0)
        return stride(from: 1, to: geometry.count, by: 2).map { position in
            x += value(geometry[position])
            y += value(geometry[position + 1])
            return [x, y]
        }
    }
}

/// `{"_type":"point",…}`
func point(_ latitude: Double, _ longitude: Double) -> String {
    #"{"_type":"point","lat":\#(latitude),"lon":\#(longitude)}"#
}
