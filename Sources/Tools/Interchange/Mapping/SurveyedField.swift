import JSONText
import Objects

/// A first-level field, and what its values are.
public struct SurveyedField: Sendable {
    /// The field's name in the file.
    public let name: String
    private var numbers = 0
    private var texts = 0
    private var booleans = 0
    private var lists = 0
    private var objects = 0
    private var points = 0
    /// Values that are places by themselves.
    private(set) var places = 0
    /// Values that are places without a position, such as `POINT EMPTY`.
    private(set) var empties = 0
    /// Numbers, also such as texts, and those of them that can be degrees.
    private(set) var decimals = 0
    private(set) var degrees = 0

    private let isHalf: Bool

    init(name: String) {
        self.name = name
        isHalf = UsualNames.prefix(name, UsualNames.latitudes + UsualNames.longitudes) != nil
    }

    var values: Int { numbers + texts + booleans + lists + objects + points }

    mutating func add(_ value: JSONView, _ reader: PlaceReader) {
        switch value.kind {
        case .null: return
        case .bool: booleans += 1
        case .number, .huge: numbers += 1
        case .string:
            // An empty text is a missing value.
            if value.utf8!.isEmpty { return }
            texts += 1
        case .array: lists += 1
        case .object:
            if GeoPoint.isClaimed(by: value) {
                points += 1
                return
            }
            objects += 1
        }
        var number = value.number?.double
        if value.kind == .string {
            let text = value.string!.trimmingSpaces
            number =
                PlaceReader.decimal(text)
                ?? (isHalf ? PlaceReader.sexagesimal(text)?.degrees : nil)
        }
        if let number {
            decimals += 1
            if abs(number) <= 180 { degrees += 1 }
        } else if let place = place(value, reader) {
            if case .nothing = place { empties += 1 } else { places += 1 }
        }
    }

    /// A value that is a place beyond doubt, or of a usual name and like a place.
    private func place(_ value: JSONView, _ reader: PlaceReader) -> PlaceReader.Found? {
        let isUsual = UsualNames.places.contains(name.lowercased())
        switch value.kind {
        case .object:
            if value["x"] != nil, !isUsual { return nil }
        case .array:
            guard isUsual, value.elements.contains(where: { $0.number != nil }) else {
                return nil
            }
        case .string:
            let text = value.string!.trimmingSpaces
            let isGeohash = name.lowercased().contains("geohash")
            guard
                PlaceReader.looksLikeWKT(text) || isUsual && PlaceReader.looksLikeWKB(text)
                    || text.hasPrefix("{") && (isUsual || text.contains("\"coordinates\""))
                    || isGeohash
                    || isUsual && text.contains(where: { ",; °".contains($0) })
            else { return nil }
        default: return nil
        }
        return try? reader.value(value)
    }

    /// Whether it is a GeoPoint in some records.
    var hasGeoPoints: Bool { points > 0 }

    /// `number`, `text (98 %), number (2 %)`, `GeoPoint`, and how many records have it.
    public var summary: String {
        let kinds = [
            ("number", numbers), ("text", texts), ("boolean", booleans), ("array", lists),
            ("object", objects), ("GeoPoint", points),
        ].filter { $0.1 > 0 }.sorted { $0.1 > $1.1 }
        guard kinds.count > 1 else { return "\(kinds.first?.0 ?? "empty"), in \(values) records" }
        return kinds.map { "\($0.0) (\($0.1))" }.joined(separator: ", ")
    }
}
