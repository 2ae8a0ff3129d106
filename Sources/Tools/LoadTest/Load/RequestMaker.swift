import Glibc
import JSONText
import SyntheticData

/// The form of a request.
enum RequestForm {
    /// A line of the protocol.
    case line
    /// The body of Kii's `/query`.
    case body
}

/// Writes requests, each with its own position or object.
struct RequestMaker: ~Copyable {
    private let settings: RequestSettings
    private var population: Population
    private let centers: [MicroPoint]
    private var random: SplitMix64
    private let prefixes: [RequestKind: [UInt8]]
    private let form: RequestForm
    private var created = 0
    private(set) var line = JSONWriter(reserving: 1_024)

    private static let metersPerDegree = 6_371_000 * Double.pi / 180

    /// - Parameter centers: positions to search near; empty means near the population.
    init(
        _ settings: RequestSettings, _ population: Population, centers: [MicroPoint],
        _ form: RequestForm = .line
    ) {
        self.settings = settings
        self.population = population
        self.centers = centers.isEmpty ? population.objects.map(\.position) : centers
        random = SplitMix64(seed: settings.seed)
        self.form = form
        prefixes = Dictionary(
            uniqueKeysWithValues: settings.mix.weights.map {
                ($0.kind, Self.prefix($0.kind, bucket: settings.bucket, form))
            })
    }

    mutating func pickKind() -> RequestKind { settings.mix.pick(&random) }

    /// Writes a request into `line`.
    mutating func write(_ kind: RequestKind) {
        line.removeAll()
        line.raw(prefixes[kind]!)
        switch kind {
        case .radius: writeQuery(.radius, ordered: false, limit: 100)
        case .nearest: writeQuery(.nearest, ordered: true, limit: 10)
        case .filter: writeQuery(.filter, ordered: true, limit: 20)
        case .box: writeQuery(.box, ordered: false, limit: 100)
        case .count:
            writeClause(.count)
            if form == .body {
                line.raw(#","aggregations":[{"type":"COUNT","putAggregationInto":"count"}]"#)
            }
            line.byte(UInt8(ascii: "}"))
        case .get: writeID(of: randomObject())
        case .create:
            line.raw(",\"object\":")
            writeDocument(at: center())
        case .put:
            let object = randomObject()
            writeID(of: object)
            line.raw(",\"object\":")
            writeDocument(at: population.objects[object].position)
        case .move: writeMove()
        case .follow: preconditionFailure("a watch is moved by writeFollow")
        }
        line.raw(form == .line ? "}}\n" : "}")
    }

    /// The request up to the params that follow the bucket's name.
    private static func prefix(
        _ kind: RequestKind, bucket: String, _ form: RequestForm
    ) -> [UInt8] {
        guard form == .line else {
            precondition(kind.isQuery, "\(kind) is no query")
            return Array("{".utf8)
        }
        let method =
            switch kind {
            case .radius, .nearest, .box, .filter: "bucket.query"
            case .count: "bucket.count"
            case .get: "object.get"
            case .create: "object.create"
            case .put: "object.put"
            case .move: "object.patch"
            case .follow: "watch.move"
            }
        var line = JSONWriter()
        line.raw(#"{"jsonrpc":"2.0","id":1,"method":"#)
        line.string(method)
        line.raw(#","params":{"bucket":"#)
        line.string(bucket)
        if kind.isQuery { line.byte(UInt8(ascii: ",")) }
        return line.bytes
    }

    // MARK: Queries

    private mutating func writeQuery(_ kind: RequestKind, ordered: Bool, limit: Int) {
        writeClause(kind)
        if ordered { line.raw(#","orderBy":"_calculated.d""#) }
        line.raw(#"},"bestEffortLimit":"#)
        line.integer(limit)
        if kind == .radius || kind == .nearest { line.raw(#","fields":[]"#) }
    }

    private mutating func writeClause(_ kind: RequestKind) {
        let center = center()
        line.raw(#""bucketQuery":{"clause":"#)
        switch kind {
        case .box: writeBox(around: center)
        case .filter:
            line.raw(#"{"type":"and","clauses":["#)
            writeCircle(kind, center)
            line.byte(UInt8(ascii: ","))
            line.raw(settings.filter)
            line.raw("]}")
        default: writeCircle(kind, center)
        }
    }

    private mutating func writeCircle(_ kind: RequestKind, _ center: MicroPoint) {
        line.raw(#"{"type":"geodistance","field":"#)
        line.string(settings.field)
        line.key("center")
        Dataset.write(center, into: &line)
        if kind != .nearest {
            line.key("radius")
            line.double(settings.radiusMeters)
        }
        if kind != .count { line.raw(#","putDistanceInto":"d""#) }
        line.byte(UInt8(ascii: "}"))
    }

    private mutating func writeBox(around center: MicroPoint) {
        let sides = Self.offsets(settings.radiusMeters, at: center)
        line.raw(#"{"type":"geobox","field":"#)
        line.string(settings.field)
        line.raw(#","box":{"sw":"#)
        Dataset.write(Self.moved(center, north: -sides.north, east: -sides.east), into: &line)
        line.key("ne")
        Dataset.write(Self.moved(center, north: sides.north, east: sides.east), into: &line)
        line.raw("}}")
    }

    /// A position about a kilometre from a random centre, because people search near their target,
    /// not at it.
    private mutating func center() -> MicroPoint {
        let position = centers[random.below(centers.count)]
        return Self.moved(
            position, north: 0.01 * random.gaussian(), east: 0.01 * random.gaussian())
    }

    // MARK: Watches

    /// The request that starts a watch, and its centre.
    mutating func start() -> (center: MicroPoint, line: [UInt8]) {
        let center = center()
        line.removeAll()
        line.raw(#"{"jsonrpc":"2.0","id":1,"method":"watch.start","params":{"bucket":"#)
        line.string(settings.bucket)
        writeWatchedCircle(center)
        // What an event is recognised by.
        line.raw(#","fields":["_version"]}}"#)
        line.raw("\n")
        return (center, line.bytes)
    }

    /// Writes the line that moves a watch into `line`, and returns the new centre.
    ///
    /// - Parameter name: as JSON.
    mutating func writeFollow(_ name: [UInt8], from center: MicroPoint) -> MicroPoint {
        let next = step(from: center)
        line.removeAll()
        line.raw(#"{"jsonrpc":"2.0","id":1,"method":"watch.move","params":{"watch":"#)
        line.raw(name)
        writeWatchedCircle(next)
        line.raw("}}\n")
        return next
    }

    private mutating func writeWatchedCircle(_ center: MicroPoint) {
        line.raw(#","bucketQuery":{"clause":{"type":"geodistance","field":"#)
        line.string(settings.field)
        line.key("center")
        Dataset.write(center, into: &line)
        line.key("radius")
        line.double(settings.watchRadiusMeters)
        line.raw("}}")
    }

    /// One of so many.
    mutating func pick(_ count: Int) -> Int { random.below(count) }

    // MARK: Objects

    private mutating func randomObject() -> Int { random.below(population.objects.count) }

    private mutating func writeID(of object: Int) {
        line.key("id")
        line.string(population.objects[object].id)
    }

    private mutating func writeDocument(at position: MicroPoint) {
        created += 1
        Dataset.writeNew(
            created, category: random.below(Dataset.categoryNames.count),
            rating: random.below(101), at: position, into: &line)
    }

    private mutating func writeMove() {
        let object = randomObject()
        let next = step(from: population.objects[object].position)
        population.objects[object].position = next
        writeID(of: object)
        line.raw(",\"object\":{")
        line.string(settings.field)
        line.byte(UInt8(ascii: ":"))
        Dataset.write(next, into: &line)
        line.byte(UInt8(ascii: "}"))
    }

    // MARK: Places

    /// A position one move away, in any direction.
    private mutating func step(from position: MicroPoint) -> MicroPoint {
        let step = Self.offsets(settings.moveMeters, at: position)
        let heading = random.number(0...2 * .pi)
        return Self.moved(
            position, north: step.north * cos(heading), east: step.east * sin(heading))
    }

    /// Converts metres to degrees at a position.
    private static func offsets(
        _ meters: Double, at position: MicroPoint
    ) -> (north: Double, east: Double) {
        let north = meters / metersPerDegree
        return (north, min(90, north / cos(position.coordinate.latitude * .pi / 180)))
    }

    /// Moves a position by degrees, across the antimeridian if need be.
    private static func moved(_ position: MicroPoint, north: Double, east: Double) -> MicroPoint {
        let start = position.coordinate
        let longitude = (start.longitude + east).remainder(dividingBy: 360)
        return MicroPoint(latitude: start.latitude + north, longitude: longitude)
    }
}
