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
        guard case .point(let position, let system)? = try? reader.read(rule, values),
            system ?? .degrees == .degrees
        else { return }
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
