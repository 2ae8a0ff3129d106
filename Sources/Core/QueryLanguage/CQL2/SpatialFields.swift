import Objects

/// What spatial functions may name: the places of a collection's objects.
///
/// `geometry` and `geom` are names for the geometry of a feature, where no field is called so.
public struct SpatialFields: Sendable {
    private let geometry: FieldPath
    private let places: Set<FieldPath>
    private let hasField: @Sendable (FieldPath) -> Bool

    /// - Parameters:
    ///   - geometry: the field that is the features' geometry.
    ///   - places: the fields with places, that one among them.
    ///   - hasField: whether some object has a field, whatever is in it.
    public init(
        geometry: FieldPath, places: Set<FieldPath>,
        hasField: @escaping @Sendable (FieldPath) -> Bool
    ) {
        (self.geometry, self.places, self.hasField) = (geometry, places, hasField)
    }

    /// The field that a name means; nil if it means no place.
    func field(named name: FieldPath) -> FieldPath? {
        if places.contains(name) { return name }
        return ["geometry", "geom"].contains(name.text) && !hasField(name) ? geometry : nil
    }

    /// The names that may stand there, for a fault.
    var names: String { places.map { quoted($0.text) }.sorted().joined(separator: ", ") }
}
