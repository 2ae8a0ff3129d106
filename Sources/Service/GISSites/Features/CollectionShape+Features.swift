import Objects
import QueryLanguage
import ServiceDesk
import WebExchange

/// A collection's objects as features and their properties.
extension CollectionShape {
    /// Writes features that all have the same properties, each with the same type.
    var featureWriter: FeatureWriter {
        let decimals = firstLevel.filter { $0.types.contains(.decimal) }
        return FeatureWriter(
            pointField: geoField, names: names, decimals: Set(decimals.map { Array($0.path.utf8) }))
    }

    /// The fields of objects themselves, of which every feature has all; not the geometry.
    var firstLevel: [SurveyedField] {
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
    var queryableFields: [SurveyedField] {
        let geometry = geoField.text
        return fields.filter {
            $0.path != geometry
                && !Set($0.types).isDisjoint(with: [.string, .integer, .decimal, .boolean])
        }
    }
}
