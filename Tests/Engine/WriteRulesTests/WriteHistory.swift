import BackendContract
import JSONText
import Objects
import QueryLanguage
import TestSupport

/// A generated history of writes: few buckets, ids, versions and request keys, so that they meet.
struct WriteHistory {
    struct Step {
        let write: Write
        let key: RequestKey?
        let now: Int64
        /// Whether some expired objects are removed before.
        let removesExpired: Bool
        /// The ids that new objects are offered, the same ones for whoever asks.
        let seed: UInt64

        var newIDs: IDSource { IDSource(seed: seed) }
    }

    /// Ids of which some are taken already.
    final class IDSource {
        private var random: SplitMix64

        init(seed: UInt64) { random = SplitMix64(seed: seed) }

        func next() -> ObjectID { ObjectID(trusted: "n\(random.below(200))") }
    }

    static var limits: Limits {
        var limits = Limits()
        limits.geoFields = 4
        limits.requestKeys = 6
        limits.objectBytes = 230
        return limits
    }

    private var random: SplitMix64
    private var now: Int64 = 1_000_000_000

    init(seed: UInt64) { random = SplitMix64(seed: seed) }

    mutating func next() throws -> Step {
        // Some milliseconds on, or back, or a good part of the day that requests are remembered.
        now += Int64(random.oneIn(40) ? 40_000_000 : random.below(30) - 4)
        let key =
            random.oneIn(4)
            ? RequestKey(
                text: "k\(random.below(8))", request: Array("r\(random.below(2))".utf8)) : nil
        return Step(
            write: try write(), key: key, now: now, removesExpired: random.oneIn(15),
            seed: random.next())
    }

    private mutating func write() throws -> Write {
        let bucket = BucketName(trusted: random.pick(["b0", "b0", "b1"]))
        let id = ObjectID(trusted: random.pick(Self.ids))
        let version = random.oneIn(2) ? nil : Int64(1 + random.below(3))
        switch random.below(24) {
        case 0: return .deleteBucket(bucket)
        case 1: return .deleteWhere(bucket: bucket, clause: .all)
        case 2, 3:
            let clause = Clause.eq(FieldPath("a"), .number(.integer(Int64(random.below(4)))))
            return .deleteWhere(bucket: bucket, clause: clause)
        case 4..<7: return .delete(bucket: bucket, id: id, ifVersion: version)
        case 7..<14:
            return .patch(
                bucket: bucket, id: id, patch: Array(patch().utf8), ifVersion: version,
                ifNewer: ifNewer(),
                expiry: random.oneIn(2) ? .unchanged : expires().map { .at($0) } ?? .never,
                options: random.oneIn(3) ? .storesNulls : [])
        case 14..<17:
            let ids = Self.ids.shuffled(using: &random).prefix(random.below(4))
            return .putMany(bucket: bucket, objects: try ids.map { try object($0) })
        default:
            let condition: WriteCondition =
                version.map { .version($0) } ?? (random.oneIn(2) ? .absent : .none)
            return .put(
                bucket: bucket, object: try object(id.text), condition: condition)
        }
    }

    private static let ids = (0..<6).map { "o\($0)" }

    private mutating func object(_ id: String) throws -> PutObject {
        try WriteRulesTests.object(
            document(), id: random.oneIn(6) ? nil : id, owner: random.oneIn(3) ? "alice" : nil,
            dataType: random.oneIn(5) ? "t" : nil, expires: expires(), ifNewer: ifNewer())
    }

    private mutating func ifNewer() -> FieldPath? { random.oneIn(4) ? FieldPath("a") : nil }

    private mutating func expires() -> Int64? {
        random.oneIn(3) ? now + Int64(1 + random.below(300)) : nil
    }

    private mutating func document() -> String {
        var members = [#""a":\#(random.below(4))"#]
        if random.oneIn(3) { members.append(#""s":"\#(string(40))""#) }
        for _ in 0..<random.below(3) {
            members.append("\(field(besides: members)):\(point())")
        }
        return "{\(members.shuffled(using: &random).joined(separator: ","))}"
    }

    private mutating func patch() -> String {
        var members: [String] = []
        if random.oneIn(3) { members.append(#""a":\#(random.oneIn(4) ? "null" : "7")"#) }
        if random.oneIn(3) { members.append(#""s":"\#(string(200))""#) }
        if random.oneIn(4) { members.append(#""deep":{"x":null,"y":{"z":[null]}}"#) }
        switch random.below(6) {
        case 0: members.append("\(field(besides: members)):null")
        case 1, 4: members.append(#"\#(field(besides: members)):{"lat":95}"#)
        case 2, 3: members.append("\(field(besides: members)):\(point())")
        default: break
        }
        return "{\(members.joined(separator: ","))}"
    }

    private mutating func string(_ length: Int) -> String {
        String(repeating: "x", count: random.below(length))
    }

    private mutating func point() -> String {
        #"{"_type":"point","lat":\#(random.below(90)),"lon":\#(random.below(180))}"#
    }

    /// A name that no member has.
    private mutating func field(besides members: [String]) -> String {
        let names = (0..<6).map { #""p\#($0)""# }
        return random.pick(names.filter { name in !members.contains { $0.hasPrefix(name) } })
    }
}
