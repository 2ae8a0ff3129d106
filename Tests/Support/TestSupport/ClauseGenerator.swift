import JSONText

/// Clause trees over the data of a bucket: values are drawn from its objects, so that they match.
public struct ClauseGenerator {
    private let objects: ObjectGenerator
    private let bucket: OracleBucket
    private var distanceNames = 0

    public init(objects: ObjectGenerator, bucket: OracleBucket) {
        self.objects = objects
        self.bucket = bucket
    }

    /// The names under which the clauses made so far put distances.
    public var names: [String] { (0..<distanceNames).map { "d\($0)" } }

    /// A tree of at most so many levels.
    public mutating func clause(depth: Int, _ random: inout SplitMix64) -> JSONValue {
        guard depth > 1, !random.oneIn(3) else { return leaf(&random) }
        switch random.below(5) {
        case 0: return Self.not(clause(depth: depth - 1, &random))
        case let kind:
            let inner = (0..<1 + random.below(3)).map { _ in clause(depth: depth - 1, &random) }
            return Self.list(kind < 3 ? "and" : "or", inner)
        }
    }

    public static func not(_ clause: JSONValue) -> JSONValue {
        .object(["type": .string("not"), "clause": clause])
    }

    public static func list(_ type: String, _ clauses: [JSONValue]) -> JSONValue {
        .object(["type": .string(type), "clauses": .array(clauses)])
    }

    private mutating func leaf(_ random: inout SplitMix64) -> JSONValue {
        let field = random.pick(ObjectGenerator.paths)
        switch random.below(16) {
        case 15: return like(field, &random)
        case 0, 1: return Self.leaf("eq", field, [("value", literal(field, &random))])
        case 2, 3: return range(field, &random)
        case 4: return prefix(field, &random)
        case 5:
            let values = (0..<1 + random.below(4)).map { _ in literal(field, &random) }
            return Self.leaf("in", field, [("values", .array(values))])
        case 6: return hasField(field, &random)
        case 7: return contains(field, &random)
        case 8, 9: return box(&random)
        case 10, 11: return distance(&random)
        case 12: return polygon(&random)
        case 13: return corridor(&random)
        default: return random.oneIn(8) ? .object(["type": .string("all")]) : ids(&random)
        }
    }

    public mutating func distance(
        into name: Bool? = nil, _ random: inout SplitMix64
    ) -> JSONValue {
        let field = random.pick(ObjectGenerator.geoPaths)
        let model = random.pick([nil, nil, "sphere", "wgs84", "wgs84"])
        let center = center(model, &random)
        var members: [(String, JSONValue)] = [("center", center)]
        if let model { members.append(("model", .string(model))) }
        if !random.oneIn(4) {
            members.append(("radius", length(Self.leaf("geodistance", field, members), &random)))
        }
        if name ?? random.oneIn(2) { report("putDistanceInto", &members) }
        return Self.leaf("geodistance", field, members)
    }

    /// - Parameter names: whether it reports both its distance and the place along its line.
    public mutating func corridor(
        into names: Bool? = nil, _ random: inout SplitMix64
    ) -> JSONValue {
        let field = random.pick(ObjectGenerator.geoPaths)
        var members: [(String, JSONValue)] = [("line", line(&random))]
        let width = length(Self.leaf("geocorridor", field, members + [("width", .int(1))]), &random)
        members.append(("width", width.double! <= 1_000_000 ? width : .int(1_000_000)))
        if names ?? random.oneIn(2) { report("putDistanceInto", &members) }
        if names ?? random.oneIn(2) { report("putAlongInto", &members) }
        return Self.leaf("geocorridor", field, members)
    }

    private mutating func report(_ member: String, _ members: inout [(String, JSONValue)]) {
        members.append((member, .string("d\(distanceNames)")))
        distanceNames += 1
    }

    public func box(_ random: inout SplitMix64) -> JSONValue {
        let (a, b) = (position(&random), position(&random))
        var (south, north) = (a["lat"]!.double!, b["lat"]!.double!)
        if south > north { swap(&south, &north) }
        let (west, east) = (a["lon"]!.double!, b["lon"]!.double!)
        let box: JSONValue = .object([
            "ne": .point(north, random.oneIn(8) ? 180 : east),
            "sw": .point(south, random.oneIn(8) ? -180 : west),
        ])
        return Self.leaf("geobox", random.pick(ObjectGenerator.geoPaths), [("box", box)])
    }

    public func polygon(_ random: inout SplitMix64) -> JSONValue {
        let positions = objects.oraclePositions.map { ($0.latitude, $0.longitude) }
        let polygon = PolygonGenerator(positions: positions).polygon(&random)
        return Self.leaf(
            "geopolygon", random.pick(ObjectGenerator.geoPaths), [("polygon", polygon.geometry)])
    }

    public func ids(_ random: inout SplitMix64) -> JSONValue {
        let ids = bucket.objects.map(\.id) + ["no-such"]
        if random.oneIn(2) {
            return Self.leaf("eq", "_id", [("value", .string(random.pick(ids)))])
        }
        let values = (0..<1 + random.below(5)).map { _ in JSONValue.string(random.pick(ids)) }
        return Self.leaf("in", "_id", [("values", .array(values + [.null]))])
    }

    // MARK: Values

    private static func leaf(
        _ type: String, _ field: String, _ members: [(String, JSONValue)]
    ) -> JSONValue {
        .object(
            [.init("type", .string(type)), .init("field", .string(field))]
                + members.map { .init($0.0, $0.1) })
    }

    /// A value of the field in some object, or any other that a clause may hold.
    private func literal(_ field: String, _ random: inout SplitMix64) -> JSONValue {
        if !random.oneIn(4), let object = random.pickOne(bucket.objects),
            let value = object.whole.field(field)
        {
            switch value {
            case .array(let elements):
                if let element = random.pickOne(elements), element.isLiteral { return element }
            case _ where value.isLiteral: return value
            default: break
            }
        }
        return random.oneIn(6) ? position(&random) : parsed(objects.scalar(&random))
    }

    private func range(_ field: String, _ random: inout SplitMix64) -> JSONValue {
        var limits: [JSONValue] = []
        for _ in 0..<40 where limits.count < 2 {
            let value = literal(field, &random)
            switch (value.nearest, limits.first?.nearest) {
            case (.number, nil), (.number, .number), (.string, nil), (.string, .string):
                limits.append(value)
            default: break
            }
        }
        if limits.count < 2 { limits = [.int(0), .int(2)] }
        if OracleOrder.compare(limits[0], limits[1]) > 0, !random.oneIn(8) { limits.swapAt(0, 1) }
        var members: [(String, JSONValue)] = []
        let which = random.below(4)  // 0: lower alone, 1: upper alone
        if which != 1 { members.append(("lowerLimit", limits[0])) }
        if which != 0 { members.append(("upperLimit", limits[1])) }
        for flag in ["lowerIncluded", "upperIncluded"] where random.oneIn(2) {
            members.append((flag, .bool(random.oneIn(2))))
        }
        return Self.leaf("range", field, members)
    }

    private func text(_ field: String, _ random: inout SplitMix64) -> String {
        literal(field, &random).string ?? parsed(objects.string(&random)).string!
    }

    private func prefix(_ field: String, _ random: inout SplitMix64) -> JSONValue {
        var scalars = Array(text(field, &random).unicodeScalars)
        scalars = Array(scalars.prefix(random.below(scalars.count + 1)))
        return Self.leaf("prefix", field, [("prefix", .string(Self.string(scalars)))])
    }

    /// A text of the field with some characters replaced by wildcards, some escaped, some left out.
    private func like(_ field: String, _ random: inout SplitMix64) -> JSONValue {
        var pattern: [Unicode.Scalar] = []
        for scalar in text(field, &random).unicodeScalars.prefix(12) {
            switch random.below(8) {
            case 0: pattern.append("%")
            case 1: pattern.append("_")
            case 2: pattern += ["%", scalar == "\\" ? "x" : scalar]
            case 3: break
            default: pattern += ["%", "_", "\\"].contains(scalar) ? ["\\", scalar] : [scalar]
            }
        }
        if random.oneIn(2) { pattern.append("%") }
        var members = [("pattern", JSONValue.string(Self.string(pattern)))]
        if random.oneIn(3) { members.append(("ignoreCase", .bool(true))) }
        return Self.leaf("like", field, members)
    }

    private func contains(_ field: String, _ random: inout SplitMix64) -> JSONValue {
        let field = random.oneIn(2) ? "tags" : field
        guard random.oneIn(3) else {
            return Self.leaf("contains", field, [("value", literal(field, &random))])
        }
        let scalars = Array(text(field, &random).unicodeScalars)
        let from = random.below(scalars.count + 1)
        let part = Array(scalars[from...].prefix(random.below(4)))
        return Self.leaf("contains", field, [("value", .string(Self.string(part)))])
    }

    private func hasField(_ field: String, _ random: inout SplitMix64) -> JSONValue {
        let types = [
            "STRING", "INTEGER", "DECIMAL", "BOOLEAN", "GEOPOINT", "ARRAY", "OBJECT", "NULL",
        ]
        let members = random.oneIn(3) ? [] : [("fieldType", JSONValue.string(random.pick(types)))]
        return Self.leaf("hasField", random.oneIn(3) ? "alt" : field, members)
    }

    private static func string(_ scalars: [Unicode.Scalar]) -> String {
        var text = ""
        text.unicodeScalars.append(contentsOf: scalars)
        return text
    }

    // MARK: Places

    private func position(_ random: inout SplitMix64) -> JSONValue {
        parsed(objects.point(&random))
    }

    /// A centre from which no distance lies so near a boundary of rounding that arithmetic decides.
    private func center(_ model: String?, _ random: inout SplitMix64) -> JSONValue {
        while true {
            let candidate =
                random.oneIn(2)
                ? position(&random)
                : .point(35 + random.number(-3...3), 139 + random.number(-3...3))
            let center = OraclePosition(candidate)!
            let isClear = objects.oraclePositions.allSatisfy {
                !OracleDistance(center, $0, model: model).isNearRounding
            }
            if isClear { return candidate }
        }
    }

    /// A line from which no place lies so near a boundary of rounding that arithmetic decides.
    private func line(_ random: inout SplitMix64) -> JSONValue {
        let positions = objects.oraclePositions
        let generator = LineGenerator(positions: positions.map { ($0.latitude, $0.longitude) })
        while true {
            let candidate = LineGenerator.geometry(generator.line(&random))
            let line = OracleLine(candidate)
            if !positions.contains(where: line.isUnsure) { return candidate }
        }
    }

    /// Often exactly a distance by the clause that occurs, so that the edge is met, or a micrometre
    /// beside it.
    private func length(_ clause: JSONValue, _ random: inout SplitMix64) -> JSONValue {
        let field = clause["field"]!.string!
        if let object = random.pickOne(bucket.objects),
            let distance = OracleClause.distance(clause, object.document.field(field)),
            distance > 1, distance < 20_015_115_000_000
        {
            return .double(Double(distance - Int64(random.below(2))) / 1e6)
        }
        return random.pick([.int(20_015_115), .int(1), .int(150_000), .double(0.5)])
    }

    private func parsed(_ text: String) -> JSONValue {
        guard let value = try? JSONValue(parsing: text) else {
            preconditionFailure("not JSON: \(text)")
        }
        return value
    }
}

extension JSONValue {
    /// Whether a clause may hold the value.
    fileprivate var isLiteral: Bool {
        switch self {
        case .array: false
        case .object: OraclePosition(self) != nil
        default: true
        }
    }
}

extension SplitMix64 {
    /// Nil where there is nothing to pick.
    mutating func pickOne<Element>(_ elements: [Element]) -> Element? {
        elements.isEmpty ? nil : pick(elements)
    }
}
