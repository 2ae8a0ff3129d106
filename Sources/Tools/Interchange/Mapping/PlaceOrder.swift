import Objects

/// The positions of one rule in a sample: whether latitudes and longitudes are exchanged.
struct PlaceOrder {
    private let rule: PlaceRule
    private let reader: PlaceReader
    private var count = 0
    private var beyond = 0
    private var first: (number: Int, latitude: Double)?
    private var hasFarLongitude = false
    private(set) var isText = false

    init(_ rule: PlaceRule, _ geometry: GeometryRule) {
        (self.rule, reader) = (rule, PlaceReader(geometry))
    }

    mutating func add(_ number: Int, _ fields: RecordFields) {
        let values = rule.paths.map { fields.value(at: FieldPath($0)) }
        let found: PlaceReader.Found?
        switch rule.source {
        case .pair(let latitude, let longitude):
            found = try? reader.pair(values[0], values[1], (latitude, longitude))
        case .value: found = try? reader.value(values[0])
        case .ordered(_, _, let latitudeFirst):
            found = try? reader.value(values[0], latitudeFirst: latitudeFirst)
        }
        guard case .point(let position, let system)? = found, system ?? .degrees == .degrees else {
            return
        }
        count += 1
        if values[0]?.kind == .string { isText = true }
        if abs(position.x) > 90 { hasFarLongitude = true }
        guard abs(position.y) > 90, abs(position.y) <= 180 else { return }
        beyond += 1
        if first == nil { first = (number, position.y) }
    }

    var exchanged: (number: Int, latitude: Double)? { hasFarLongitude ? nil : first }
    var isMostlyExchanged: Bool { beyond * 2 > count }
}
