import Geodesy
import JSONText
import Objects
import QueryLanguage
import SwiftProtobuf
import WebExchange

/// Makes a vector tile of an answer of `bucket.clusters`.
///
/// Layer `clusters` has the cells with several objects (`count`, `cell`) at the means of their
/// places. Layer `objects` has a feature for each object in each cell, with its members.
///
/// - Reference: Mapbox Vector Tile specification 2.1.
enum TileEncoder {
    /// The tile; empty if it has nothing.
    ///
    /// - Parameters:
    ///   - answer: cells, and objects with their places.
    ///   - buffer: units beside the tile of which it tells too.
    ///   - withPoints: whether GeoPoints are attributes too.
    static func encode(
        _ answer: ClusterAnswer, of tile: TileAddress, buffer: Int, withPoints: Bool
    ) throws(WebFailure) -> [UInt8] {
        var cells = TileLayer("clusters")
        let (count, name) = (cells.key("count"), cells.key("cell"))
        for cluster in answer.clusters ?? [] {
            guard case .center(let center) = cluster.content else { continue }
            let points = tile.positions(of: center, in: cluster.cell, buffer: buffer)
            guard !points.isEmpty else { continue }
            // Each cell has a name of its own.
            let number = cells.value(.number(.integer(Int64(cluster.count))))
            let text = cells.newValue(.string(answer.name(of: cluster.cell)))
            cells.add(
                at: points, tags: [count, number, name, text])
        }
        let objects = objects(of: answer, tile, buffer, withPoints: withPoints)
        var message = MVTTile()
        message.layers = [cells, objects].filter { !$0.isEmpty }.map { $0.message }
        do {
            return try message.serializedBytes()
        } catch {
            throw WebFailure(
                .internalServerError, "UNDEFINED_ERROR", "the tile cannot be written: \(error)")
        }
    }

    private static func objects(
        of answer: ClusterAnswer, _ tile: TileAddress, _ buffer: Int, withPoints: Bool
    ) -> TileLayer {
        var layer = TileLayer("objects")
        guard !answer.objects.isEmpty else { return layer }
        let list = [UInt8(ascii: "[")] + answer.objects + [UInt8(ascii: "]")]
        JSONParser.readingOwn(list) { list in
            var objects = list.elements.makeIterator()
            for cluster in answer.clusters ?? [] {
                guard case .object(_, let places) = cluster.content, let object = objects.next()
                else { continue }
                let points = (places ?? []).flatMap {
                    tile.positions(of: $0, in: cluster.cell, buffer: buffer)
                }
                guard !points.isEmpty else { continue }
                let tags = tags(of: object, withPoints: withPoints, in: &layer)
                layer.add(at: points, tags: tags)
            }
        }
        return layer
    }

    /// The members of an object: texts, numbers and booleans as they are, objects and arrays as JSON
    /// text.
    private static func tags(
        of object: JSONView, withPoints: Bool, in layer: inout TileLayer
    ) -> [UInt32] {
        var tags: [UInt32] = []
        let hidden = object.hiddenMembers()
        for (position, member) in zip(0..., object.members) where !hidden.contains(position) {
            guard withPoints || !GeoPoint.isClaimed(by: member.value),
                let value = AttributeValue(member.value)
            else { continue }
            tags.append(layer.key(String(decoding: member.name, as: UTF8.self)))
            tags.append(layer.value(value))
        }
        return tags
    }
}

/// The value of an attribute.
enum AttributeValue: Hashable {
    case string(String)
    case number(JSONNumber)
    case bool(Bool)

    /// Nil for null, which attributes cannot be.
    init?(_ value: JSONView) {
        switch value.kind {
        case .null: return nil
        case .bool: self = .bool(value.bool!)
        case .number: self = .number(value.number!)
        case .string: self = .string(value.string!)
        case .array, .object, .huge: self = .string(String(decoding: value.text, as: UTF8.self))
        }
    }

    var message: MVTValue {
        var message = MVTValue()
        switch self {
        case .string(let text): message.stringValue = text
        case .number(.integer(let number)) where number < 0: message.sintValue = number
        case .number(.integer(let number)): message.uintValue = UInt64(number)
        case .number(.unsigned(let number)): message.uintValue = number
        case .number(.decimal(let number)): message.doubleValue = number
        case .bool(let bool): message.boolValue = bool
        }
        return message
    }
}

/// A layer of points while it is made.
struct TileLayer {
    private(set) var message: MVTLayer
    private var keys: [String: UInt32] = [:]
    private var values: [AttributeValue: UInt32] = [:]

    private static let version: UInt32 = 2
    /// The command that moves to points, in the low bits; their number is above them.
    private static let moveTo: UInt32 = 1

    init(_ name: String) {
        message = MVTLayer()
        message.version = Self.version
        message.name = name
        message.extent = UInt32(TileAddress.extent)
    }

    /// Whether it has no features.
    var isEmpty: Bool { message.features.isEmpty }

    /// Adds a feature at one point or several; equal ones count once.
    ///
    /// - Parameter tags: its attributes, the numbers of key and value by turns.
    mutating func add(at points: [TilePoint], tags: [UInt32]) {
        var feature = MVTFeature()
        feature.type = .point
        var (cursor, seen) = (TilePoint(x: 0, y: 0), Set<TilePoint>())
        var geometry: [UInt32] = [0]
        geometry.reserveCapacity(1 + 2 * points.count)
        for point in points where points.count == 1 || seen.insert(point).inserted {
            geometry.append(Self.zigzag(point.x - cursor.x))
            geometry.append(Self.zigzag(point.y - cursor.y))
            cursor = point
        }
        geometry[0] = UInt32(geometry.count / 2) << 3 | Self.moveTo
        (feature.geometry, feature.tags) = (geometry, tags)
        message.features.append(feature)
    }

    /// The number of a key, which is added if need be.
    mutating func key(_ name: String) -> UInt32 {
        if let known = keys[name] { return known }
        let number = UInt32(keys.count)
        keys[name] = number
        message.keys.append(name)
        return number
    }

    /// The number of a value, which is added if need be.
    mutating func value(_ value: AttributeValue) -> UInt32 {
        if let known = values[value] { return known }
        let number = newValue(value)
        values[value] = number
        return number
    }

    /// Adds a value that no other feature has.
    mutating func newValue(_ value: AttributeValue) -> UInt32 {
        message.values.append(value.message)
        return UInt32(message.values.count - 1)
    }

    private static func zigzag(_ number: Int) -> UInt32 {
        UInt32(bitPattern: Int32(number) << 1 ^ Int32(number) >> 31)
    }
}

extension JSONParser {
    /// Reads what the service itself has written.
    fileprivate static func readingOwn(_ text: [UInt8], _ body: (JSONView) -> Void) {
        do {
            try reading(text, body)
        } catch {
            preconditionFailure("the service's own text is not JSON: \(error)")
        }
    }
}
