import Geodesy
import JSONText
import Objects
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
    ///   - clusters: cells and objects with their places.
    ///   - withPoints: whether GeoPoints are attributes too.
    static func encode(
        _ clusters: JSONView, of tile: TileAddress, withPoints: Bool
    ) throws(WebFailure) -> [UInt8] {
        var (cells, objects) = (TileLayer("clusters"), TileLayer("objects"))
        for cluster in clusters.elements {
            guard let name = cluster["cell"]?.string, let cell = NamedCell(name)?.cell else {
                continue
            }
            if let object = cluster["object"] {
                let places = cluster["places"].map { GeoPoint.coordinates(of: $0) } ?? []
                objects.begin(at: places.map { tile.position(of: $0, in: cell) })
                add(object, withPoints: withPoints, to: &objects)
            } else if let center = cluster["center"].flatMap(GeoPoint.coordinate) {
                cells.begin(at: [tile.position(of: center, in: cell)])
                cells.add("count", .number(cluster["count"]!.number!))
                cells.add("cell", .string(name))
            }
        }
        var message = MVTTile()
        message.layers = [cells, objects].filter { !$0.isEmpty }.map { $0.message }
        do {
            return try message.serializedBytes()
        } catch {
            throw WebFailure(
                .internalServerError, "UNDEFINED", "the tile cannot be written: \(error)")
        }
    }

    /// Adds the members of an object: texts, numbers and booleans as they are, objects and arrays as
    /// JSON text.
    private static func add(_ object: JSONView, withPoints: Bool, to layer: inout TileLayer) {
        let hidden = object.hiddenMembers()
        for (position, member) in zip(0..., object.members) where !hidden.contains(position) {
            guard withPoints || !GeoPoint.isClaimed(by: member.value),
                let value = AttributeValue(member.value)
            else { continue }
            layer.add(String(decoding: member.name, as: UTF8.self), value)
        }
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

    /// Begins a feature at one point or several; equal ones count once.
    mutating func begin(at points: [TilePoint]) {
        var feature = MVTFeature()
        feature.type = .point
        var (cursor, seen) = (TilePoint(x: 0, y: 0), Set<TilePoint>())
        var geometry: [UInt32] = [0]
        for point in points where points.count == 1 || seen.insert(point).inserted {
            geometry.append(Self.zigzag(point.x - cursor.x))
            geometry.append(Self.zigzag(point.y - cursor.y))
            cursor = point
        }
        geometry[0] = UInt32(geometry.count / 2) << 3 | Self.moveTo
        feature.geometry = geometry
        message.features.append(feature)
    }

    /// Adds an attribute to the feature that was begun last.
    mutating func add(_ key: String, _ value: AttributeValue) {
        let keyNumber = keys[key] ?? UInt32(keys.count)
        if Int(keyNumber) == keys.count {
            keys[key] = keyNumber
            message.keys.append(key)
        }
        let valueNumber = values[value] ?? UInt32(values.count)
        if Int(valueNumber) == values.count {
            values[value] = valueNumber
            message.values.append(value.message)
        }
        let feature = message.features.count - 1
        message.features[feature].tags.append(keyNumber)
        message.features[feature].tags.append(valueNumber)
    }

    private static func zigzag(_ number: Int) -> UInt32 {
        UInt32(bitPattern: Int32(number) << 1 ^ Int32(number) >> 31)
    }
}
