import JSONText
import TestSupport

/// The documents and clauses of one run: few values that many objects share beside ones that none had
/// before, few places that meet.
struct CombinedWorld: Sendable {
    private let positions: [(latitude: Double, longitude: Double)]
    private let centers: [(latitude: Double, longitude: Double)]

    init(_ random: inout SplitMix64) {
        var positions = [(90.0, 0.0), (-90, 180), (0, 180), (0, -180), (35.658603, 139.745433)]
        for _ in 0..<30 {
            positions.append((35 + random.number(-3...3), 139 + random.number(-3...3)))
        }
        for _ in 0..<5 { positions.append((random.number(-90...90), random.number(-180...180))) }
        self.positions = positions
        // From these no distance lies so near a boundary of rounding that arithmetic decides.
        var centers: [(latitude: Double, longitude: Double)] = []
        while centers.count < 6 {
            let center = (35 + random.number(-3...3), 139 + random.number(-3...3))
            let isClear = positions.allSatisfy { position in
                ["sphere", "wgs84"].allSatisfy {
                    !OracleDistance(from: center, to: position, model: $0).isNearRounding
                }
            }
            if isClear { centers.append(center) }
        }
        self.centers = centers
    }

    // MARK: Documents

    /// - Parameters:
    ///   - serial: no other document has it.
    ///   - isRagged: whether members are missing, or of a type that others do not have there.
    func document(
        _ serial: Int, isRagged: Bool, _ random: inout SplitMix64
    ) -> JSONValue {
        var members: [JSONValue.Member] = [.init("t", .int(serial))]
        func add(_ name: String, _ value: JSONValue) {
            if isRagged, random.oneIn(8) { return }
            members.append(.init(name, isRagged && random.oneIn(10) ? odd(&random) : value))
        }
        add("s", .string(random.oneIn(2) ? "new-\(serial)" : "old-\(random.below(12))"))
        add("k", .int(random.below(6)))
        add("n", number(&random))
        add("home", home(&random))
        add("tags", .array((0..<random.below(3)).map { _ in .string("t\(random.below(4))") }))
        if !isRagged || !random.oneIn(4) { members.append(.init("at", place(&random))) }
        if random.oneIn(6) { members.append(.init("way", place(&random))) }
        return .object(members)
    }

    func patch(_ serial: Int, isRagged: Bool, _ random: inout SplitMix64) -> JSONValue {
        var members: [JSONValue.Member] = [.init("t", .int(serial))]
        switch random.below(isRagged ? 5 : 4) {
        case 0: members.append(.init("at", place(&random)))
        case 1: members.append(.init("s", .string("patched-\(serial)")))
        case 2: members.append(.init("home", .object(["city": .string("c\(random.below(9))")])))
        case 3: members.append(.init("n", number(&random)))
        default: members.append(.init(random.pick(["s", "k", "at", "tags"]), .null))
        }
        return .object(members)
    }

    private func home(_ random: inout SplitMix64) -> JSONValue {
        .object(["city": .string("c\(random.below(9))"), "n": .int(random.below(300))])
    }

    private func number(_ random: inout SplitMix64) -> JSONValue {
        switch random.below(8) {
        case 0: .double(Double(random.below(40)) / 8)
        case 1: .int((1 << 53) + random.below(4))
        default: .int(random.below(40))
        }
    }

    private func odd(_ random: inout SplitMix64) -> JSONValue {
        random.pick([
            .null, .bool(true), .int(3), .string("odd"), .array([.int(3)]), position(&random),
        ])
    }

    /// Mostly a GeoPoint; else an array with some or none, between other things.
    private func place(_ random: inout SplitMix64) -> JSONValue {
        guard random.oneIn(4) else { return position(&random) }
        return .array(
            (0..<random.below(6)).map { _ in
                random.oneIn(4) ? .int(random.below(4)) : position(&random)
            })
    }

    private func position(_ random: inout SplitMix64) -> JSONValue {
        let position = random.pick(positions)
        return .point(position.latitude, position.longitude)
    }

    // MARK: Clauses

    /// A clause of at most so many levels, with values of some objects.
    func clause(
        on objects: [ModelObject], depth: Int = 2, _ random: inout SplitMix64
    ) -> JSONValue {
        guard depth > 1, random.oneIn(3) else { return leaf(objects, &random) }
        if random.oneIn(4) {
            return ClauseGenerator.not(clause(on: objects, depth: depth - 1, &random))
        }
        let clauses = (0..<2 + random.below(2)).map { _ in
            clause(on: objects, depth: depth - 1, &random)
        }
        return ClauseGenerator.list(random.pick(["and", "or"]), clauses)
    }

    /// Some aggregations, with so few groups that no limit of an answer refuses them.
    func aggregations(_ random: inout SplitMix64) -> [OracleAggregation] {
        (0..<1 + random.below(4)).map { _ in
            OracleAggregation(
                random.pick(["GROUP", "GROUP", "MIN", "MAX", "SUM", "AVG"]),
                random.pick(Self.aggregatedFields), limit: random.pick([1, 2, 5, 12]))
        }
    }

    private static let aggregatedFields = [
        "s", "k", "k", "n", "n", "t", "home.city", "home.n", "at", "at.lat", "tags", "_version",
        "_modified", "nope",
    ]

    static let orders = ["s", "s", "k", "n", "t", "home.city", "at", "_modified", "nope"]
    private static let fields = ["s", "s", "s", "k", "n", "t", "home.city", "home.n", "nope"]

    private func leaf(_ objects: [ModelObject], _ random: inout SplitMix64) -> JSONValue {
        let field = random.pick(Self.fields)
        /// A value that the field has, or had, in some object.
        func value() -> JSONValue {
            let object = objects.isEmpty ? nil : random.pick(objects)
            switch object?.whole.field(field) {
            case .string(let text): return .string(text)
            case .number(let number): return .number(number)
            default: return .int(random.below(40))
            }
        }
        switch random.below(15) {
        case 0...3: return leaf("eq", field, ["value": value()])
        case 4:
            let values = (0..<1 + random.below(5)).map { _ in value() }
            return leaf("in", field, ["values": .array(values)])
        case 5, 6: return range(field, value(), value())
        case 7:
            let text = value().string ?? "new-1"
            let prefix = String(text.prefix(random.below(text.count + 1)))
            return leaf("prefix", field, ["prefix": .string(prefix)])
        case 8:
            return leaf("contains", "tags", ["value": .string("t\(random.below(4))")])
        case 9: return leaf("hasField", random.pick(["s", "k", "at", "way"]), [:])
        case 10: return circle(putsDistance: false, &random)
        case 11: return box(&random)
        case 12:
            let polygon = PolygonGenerator(positions: positions).polygon(&random)
            return leaf("geopolygon", "at", ["polygon": polygon.geometry])
        case 13: return corridor(&random)
        default:
            let ids = (0..<1 + random.below(5)).map { _ in
                JSONValue.string(objects.isEmpty ? "o0" : random.pick(objects).id)
            }
            return leaf("in", "_id", ["values": .array(ids)])
        }
    }

    /// Wide enough that no place lies within rounding of its edge.
    private func corridor(_ random: inout SplitMix64) -> JSONValue {
        let line = LineGenerator(positions: positions).line(&random)
        let oracle = OracleLine(line)
        while true {
            let width = random.number(1_000...600_000)
            let isClear = positions.allSatisfy {
                let nearest = oracle.nearest(latitude: $0.latitude, longitude: $0.longitude)
                return abs(nearest.exactMeters - width) > 1e-5
            }
            guard isClear else { continue }
            return leaf(
                "geocorridor", "at",
                ["line": LineGenerator.geometry(line), "width": .double(width)])
        }
    }

    private func leaf(
        _ type: String, _ field: String, _ members: KeyValuePairs<String, JSONValue>
    ) -> JSONValue {
        .object(
            [.init("type", .string(type)), .init("field", .string(field))]
                + JSONValue.object(members).members)
    }

    private func range(_ field: String, _ a: JSONValue, _ b: JSONValue) -> JSONValue {
        switch (a, b) {
        case (.string, .string), (.number, .number):
            let (low, high) = OracleOrder.compare(a, b) <= 0 ? (a, b) : (b, a)
            return leaf("range", field, ["lowerLimit": low, "upperLimit": high])
        default: return leaf("range", field, ["lowerLimit": a])
        }
    }

    private func box(_ random: inout SplitMix64) -> JSONValue {
        let (a, b) = (random.pick(positions), random.pick(positions))
        let (south, north) = (min(a.latitude, b.latitude), max(a.latitude, b.latitude))
        let box: JSONValue = .object([
            "sw": .point(south, a.longitude), "ne": .point(north, b.longitude),
        ])
        return leaf("geobox", random.pick(["at", "way"]), ["box": box])
    }

    func circle(putsDistance: Bool, _ random: inout SplitMix64) -> JSONValue {
        let center = random.pick(centers)
        var members: [JSONValue.Member] = [
            .init("center", .point(center.latitude, center.longitude))
        ]
        if random.oneIn(4) { members.append(.init("model", .string("wgs84"))) }
        if !putsDistance || random.oneIn(2) {
            members.append(.init("radius", .double(random.number(1_000...600_000))))
        }
        if putsDistance { members.append(.init("putDistanceInto", .string("d"))) }
        return .object(
            [.init("type", .string("geodistance")), .init("field", .string("at"))] + members)
    }
}
