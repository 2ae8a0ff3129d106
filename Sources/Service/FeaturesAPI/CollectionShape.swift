import Objects
import QueryLanguage
import WebExchange

/// What is known of a collection's objects: its geo field, and their other fields with their types.
package struct CollectionShape: Sendable {
    /// A field path and the types of its values, the most frequent first.
    package struct Field: Sendable {
        let path: String
        let types: [FieldType]
        /// Whether some of its whole numbers are beyond 32 bits.
        let isWide: Bool

        /// Stores its arguments.
        package init(path: String, types: [FieldType], isWide: Bool = false) {
            (self.path, self.types, self.isWide) = (path, types, isWide)
        }
    }

    /// The field whose points are the geometries.
    let geoField: FieldPath
    /// All fields of the bucket that hold points.
    private let geoFields: Set<FieldPath>
    /// The fields that the objects have, nested ones too, without those that the service sets.
    let fields: [Field]

    /// Stores its arguments.
    package init(geoField: FieldPath, geoFields: [FieldPath] = [], fields: [Field]) {
        (self.geoField, self.fields) = (geoField, fields)
        self.geoFields = Set(geoFields + [geoField])
    }

    /// What spatial functions of filters may name.
    var spatialFields: SpatialFields {
        SpatialFields(geometry: geoField, places: geoFields) { [fields] name in
            fields.contains { $0.path.utf8.elementsEqual(name.utf8) }
        }
    }

    /// Writes features that all have the same properties, each with the same type.
    var featureWriter: FeatureWriter {
        let decimals = firstLevel.filter { $0.types.contains(.decimal) }
        return FeatureWriter(
            pointField: geoField, names: names, decimals: Set(decimals.map { Array($0.path.utf8) }))
    }

    /// The fields of objects themselves, of which every feature has all; not the geometry.
    var firstLevel: [Field] {
        let objects = ObjectPaths(fields.lazy.filter { $0.types.contains(.object) }.map(\.path))
        let geometry = geoField.text
        return fields.filter { $0.path != geometry && !objects.contain($0.path) }
    }

    /// The names of the properties that every feature has, the service's own first, as objects have
    /// them.
    var names: [[UInt8]] {
        Self.always.map { Array($0.rawValue.utf8) } + firstLevel.map { Array($0.path.utf8) }
    }

    /// The fields that the service sets in every object.
    static let always = [PredefinedField.created, .modified, .version]

    /// The properties that parameters may name, as bytes.
    var queryableNames: Set<[UInt8]> {
        Set(
            PredefinedField.allCases.map { Array($0.rawValue.utf8) }
                + queryableFields.map { Array($0.path.utf8) })
    }

    /// The fields with values that can be compared, without that of the geometry.
    var queryableFields: [Field] {
        let geometry = geoField.text
        return fields.filter {
            $0.path != geometry
                && !Set($0.types).isDisjoint(with: [.string, .integer, .decimal, .boolean])
        }
    }

    /// The fields that hold nothing but booleans.
    var booleans: Set<FieldPath> {
        Set(
            fields.filter { Set($0.types).subtracting([.null]) == [.boolean] }
                .map { FieldPath($0.path) })
    }
}
