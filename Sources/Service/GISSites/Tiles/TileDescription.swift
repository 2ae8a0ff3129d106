import Geodesy
import JSONText
import Objects
import QueryLanguage
import ServiceDesk
import WebExchange

/// The TileJSON of a collection.
///
/// - Reference: TileJSON 3.0.0, https://github.com/mapbox/tilejson-spec
struct TileDescription {
    private let collection: CollectionName
    private let question: ClusterQuestion
    private let extent: CellExtent?
    private let base: String

    /// - Parameters:
    ///   - extent: where the objects are; nil if there are none.
    ///   - base: where clients reach the web port.
    init(
        _ collection: CollectionName, _ question: ClusterQuestion, extent: CellExtent?,
        base: String
    ) {
        (self.collection, self.question) = (collection, question)
        (self.extent, self.base) = (extent, base)
    }

    /// The document.
    ///
    /// - Parameter fields: those of the bucket's objects.
    func json(fields: [SurveyedField]) -> [UInt8] {
        var writer = JSONWriter()
        writer.raw(#"{"tilejson":"3.0.0","name":"#)
        writer.string(collection.text)
        writer.raw(",\"tiles\":[")
        writer.string(address)
        writer.raw("],\"minzoom\":")
        writer.integer(ClusterQuery.zooms.lowerBound)
        writer.key("maxzoom")
        writer.integer(ClusterQuery.zooms.upperBound)
        if let extent {
            let (west, south, east, north) = extent.bounds
            writer.raw(",\"bounds\":[")
            writer.list([west, south, east, north]) { $1.double(($0 * 1e7).rounded() / 1e7) }
            writer.byte(UInt8(ascii: "]"))
        }
        writer.raw(
            #","vector_layers":[{"id":"clusters","description":"Cells with several objects","#)
        writer.raw(#""fields":{"count":"Number","cell":"String"}},"#)
        writer.raw(#"{"id":"objects","description":"Single objects","fields":{"_id":"String""#)
        for (name, type) in attributes(fields) {
            writer.byte(UInt8(ascii: ","))
            writer.string(name)
            writer.byte(UInt8(ascii: ":"))
            writer.string(type)
        }
        writer.raw("}}]}")
        return writer.bytes
    }

    /// The address of tiles, with the parameters of this one.
    private var address: String {
        let name = percentEncoded(collection.text)
        let query = stride(from: 0, to: question.parameters.count, by: 2).map { position in
            percentEncoded(question.parameters[position]) + "="
                + percentEncoded(question.parameters[position + 1])
        }
        return "\(base)/tiles/\(name)/{z}/{x}/{y}.mvt"
            + (query.isEmpty ? "" : "?" + query.joined(separator: "&"))
    }

    /// The attributes of objects and their types, as TileJSON usually calls them.
    private func attributes(_ fields: [SurveyedField]) -> [(name: String, type: String)] {
        let predefined: [(name: String, type: String)] = [
            ("_created", "Number"), ("_modified", "Number"), ("_version", "Number"),
        ]
        var own: [(name: String, type: String)] = []
        let objects = ObjectPaths(fields.filter { $0.types.contains(.object) }.map(\.path))
        for field in fields where !objects.contain(field.path) {
            if let type = type(of: field.types) { own.append((field.path, type)) }
        }
        return (predefined + own).filter { question.shows($0.name) }
    }

    /// The type of an attribute; nil if there is none.
    private func type(of types: [FieldType]) -> String? {
        var names: Set<String> = []
        for type in types {
            switch type {
            case .integer, .decimal: names.insert("Number")
            case .boolean: names.insert("Boolean")
            case .string, .array, .object: names.insert("String")
            case .geoPoint: if question.namesFields { names.insert("String") }
            case .null: break
            }
        }
        return names.count > 1 ? "Mixed" : names.first
    }
}
