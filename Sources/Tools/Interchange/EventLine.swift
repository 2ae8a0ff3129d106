import JSONText

/// An event of a watch on one line, for people.
///
///     + c7 Ben 1,999 m
///     ~ c1 Aiko 160 m
///     - c7 Ben moved
///
/// In a ranking the place stands behind the sign: `+ #1 c7`, and where it changes both: `~ #3→#1 c7`.
public struct EventLine {
    private var words: [String]
    private let fields: [String]?

    /// - Parameters:
    ///   - sign: `+`, `~` or `-`.
    ///   - ids: the object's id; of a pair, both.
    ///   - place: in a ranking, the place after the event, from 0.
    ///   - previous: in a ranking, the place before it.
    ///   - fields: the names to show; nil shows all strings, numbers and booleans.
    public init(
        _ sign: String, ids: [String], place: Int? = nil, previous: Int? = nil,
        fields: [String]? = nil
    ) {
        self.fields = fields
        words = [sign]
        switch (previous, place) {
        case (let previous?, let place?) where previous != place:
            words.append("#\(previous + 1)→#\(place + 1)")
        case (let previous, let place):
            if let place = place ?? previous { words.append("#\(place + 1)") }
        }
        words += ids
    }

    /// Appends what an object shows: its fields, then its distances, unless it has left.
    public mutating func add(_ object: JSONView, withDistances: Bool = true) {
        for member in object.members {
            let name = String(decoding: member.name, as: UTF8.self)
            guard fields.map({ $0.contains(name) }) ?? isShown(name, member.value) else { continue }
            let cell = TableCell(member.value)
            if name != "_id", !cell.text.isEmpty { words.append(cell.text) }
        }
        guard withDistances, let calculated = object["_calculated"] else { return }
        for member in calculated.members {
            guard let meters = member.value.number?.double else { continue }
            if calculated.count > 1 { words.append(String(decoding: member.name, as: UTF8.self)) }
            add(meters: meters)
        }
    }

    private func isShown(_ name: String, _ value: JSONView) -> Bool {
        guard name.first != "_" else { return false }
        switch value.kind {
        case .string, .number, .bool: return true
        default: return false
        }
    }

    /// Appends a length in whole metres: `1,999 m`.
    public mutating func add(meters: Double) {
        var digits = String(Int64(meters.rounded(.down)))
        var groups: [String] = []
        while digits.count > 3 {
            groups.insert(String(digits.suffix(3)), at: 0)
            digits.removeLast(3)
        }
        words.append(([digits] + groups).joined(separator: ",") + " m")
    }

    /// Appends why it left.
    public mutating func add(reason: String) { words.append(reason) }

    /// The line, without a line break.
    public var text: String { words.joined(separator: " ") }
}
