import Geodesy
import JSONText
import SyntheticData
import Workloads

/// Redis' queries: GEOSEARCH, and Lua where it cannot filter or return documents.
struct RedisPeer: Peer {
    let name: String
    let title: String
    let server: any Server
    /// Uses the sets that were made for categories.
    private let isMade: Bool
    private let boxScript, filterScript, topScript, countScript, groupScript, nearestScript: String

    init(_ server: RedisServer, isMade: Bool) throws {
        self.server = server
        self.isMade = isMade
        name = isMade ? "redis-made" : "redis"
        title = isMade ? "redis, a set per category" : "redis"
        boxScript = try server.script(Self.box)
        filterScript = try server.script(Self.filter)
        topScript = try server.script(Self.top)
        countScript = try server.script(Self.count)
        groupScript = try server.script(Self.group)
        nearestScript = try server.script(Self.nearest)
    }

    /// Redis' sphere is a little larger than GeoBucket's: its radii are scaled.
    private static let sphere = 6_372_797.560856 / Sphere.radiusMeters

    func request(_ query: WorkloadQuery, for workload: Workload) -> [UInt8]? {
        let position = query.center.coordinate
        let from = ["FROMLONLAT", "\(position.longitude)", "\(position.latitude)"]
        let radius = "\(query.radiusMeters * Self.sphere)"
        let circle = ["GEOSEARCH", "geo"] + from + ["BYRADIUS", radius, "m"]
        let set = isMade ? "geo:" + query.categoryName : "geo"
        let filtered = [
            set, "\(position.longitude)", "\(position.latitude)", radius, query.categoryName,
            "\(Workload.leastRating)",
        ]
        switch (workload, isMade) {
        case (.q1, false), (.q8, false): return RESP.request(circle + ["WITHDIST"])
        case (.q2, false):
            return RESP.request(circle + ["ASC", "COUNT", "50", "WITHDIST"])
        case (.q3, false):
            let side = "\(2 * query.boxHalfMeters * Self.sphere)"
            return RESP.request(["EVALSHA", boxScript, "1", "geo"] + from.dropFirst() + [side])
        case (.q4, _): return RESP.request(["EVALSHA", filterScript, "1"] + filtered)
        case (.q5, false):
            let first = "\(Workload.firstRadiusMeters)"
            return RESP.request(
                ["EVALSHA", nearestScript, "1", "geo"] + from.dropFirst() + [first])
        case (.q6, true):
            return RESP.request(["EVALSHA", topScript, "1", "top:" + query.categoryName])
        case (.q7, _): return RESP.request(["EVALSHA", countScript, "1"] + filtered)
        case (.q10, false): return RESP.request(["EVALSHA", groupScript, "1"] + filtered)
        default: return nil
        }
    }

    func move(_ object: Int, to position: MicroPoint) -> [UInt8]? {
        let coordinate = position.coordinate
        return RESP.request([
            "GEOADD", "geo", "\(coordinate.longitude)", "\(coordinate.latitude)",
            Dataset.id(object),
        ])
    }

    func hits(in answer: [UInt8], for workload: Workload) throws -> [Hit] {
        let value = try RESP.value(answer)
        if case .number(let count) = value {
            return Array(repeating: .counted, count: count)
        }
        guard case .list(let values) = value else { throw Failure("redis: no list") }
        switch workload {
        case .q3, .q6: return try values.map { Hit(object: try Self.object(ofDocument: $0)) }
        case .q4:
            return try stride(from: 0, to: values.count, by: 2).map {
                Hit(
                    object: try Self.object(ofDocument: values[$0]),
                    distance: Self.distance(values[$0 + 1]))
            }
        case .q10:
            return stride(from: 0, to: values.count, by: 2).flatMap { place -> [Hit] in
                guard case .text(let name) = values[place],
                    case .number(let count) = values[place + 1]
                else { return [] }
                return Hit.counted(count, inCategory: name)
            }
        default:
            return values.map { pair in
                guard case .list(let pair) = pair, case .text(let id) = pair[0] else {
                    return Hit(object: -1)
                }
                return Hit(object: Dataset.object(id) ?? -1, distance: Self.distance(pair[1]))
            }
        }
    }

    private static func object(ofDocument value: RESP.Value) throws -> Int {
        guard case .text(let document) = value else { return -1 }
        return try Dataset.object(ofDocument: Array(document.utf8))
    }

    private static func distance(_ value: RESP.Value) -> Double? {
        guard case .text(let digits) = value else { return nil }
        return Double(digits).map { $0 / sphere }
    }

    private static let box = """
        local ids = redis.call('GEOSEARCH', KEYS[1], 'FROMLONLAT', ARGV[1], ARGV[2], 'BYBOX', \
        ARGV[3], ARGV[3], 'm')
        if #ids == 0 then return ids end
        for i = 1, #ids do ids[i] = 'o:' .. ids[i] end
        return redis.call('MGET', unpack(ids))
        """

    private static let filter = """
        local found = redis.call('GEOSEARCH', KEYS[1], 'FROMLONLAT', ARGV[1], ARGV[2], \
        'BYRADIUS', ARGV[3], 'm', 'ASC', 'WITHDIST')
        local least = tonumber(ARGV[5])
        local answer = {}
        for i = 1, #found do
          local a = redis.call('HMGET', 'a:' .. found[i][1], 'c', 'r')
          if a[1] == ARGV[4] and tonumber(a[2]) >= least then
            answer[#answer + 1] = redis.call('GET', 'o:' .. found[i][1])
            answer[#answer + 1] = found[i][2]
            if #answer == 40 then break end
          end
        end
        return answer
        """

    private static let count = """
        local found = redis.call('GEOSEARCH', KEYS[1], 'FROMLONLAT', ARGV[1], ARGV[2], \
        'BYRADIUS', ARGV[3], 'm')
        local least = tonumber(ARGV[5])
        local count = 0
        for i = 1, #found do
          local a = redis.call('HMGET', 'a:' .. found[i], 'c', 'r')
          if a[1] == ARGV[4] and tonumber(a[2]) >= least then count = count + 1 end
        end
        return count
        """

    private static let group = """
        local found = redis.call('GEOSEARCH', KEYS[1], 'FROMLONLAT', ARGV[1], ARGV[2], \
        'BYRADIUS', ARGV[3], 'm')
        local least = tonumber(ARGV[5])
        local counts = {}
        for i = 1, #found do
          local a = redis.call('HMGET', 'a:' .. found[i], 'c', 'r')
          if tonumber(a[2]) >= least then counts[a[1]] = (counts[a[1]] or 0) + 1 end
        end
        local answer = {}
        for category, count in pairs(counts) do
          answer[#answer + 1] = category
          answer[#answer + 1] = count
        end
        return answer
        """

    private static let nearest = """
        local radius = tonumber(ARGV[3])
        while true do
          local found = redis.call('GEOSEARCH', KEYS[1], 'FROMLONLAT', ARGV[1], ARGV[2], \
        'BYRADIUS', radius, 'm', 'ASC', 'COUNT', 10, 'WITHDIST')
          if #found == 10 or radius > 2e7 then return found end
          radius = radius * 2
        end
        """

    private static let top = """
        local ids = redis.call('ZREVRANGE', KEYS[1], 0, 19)
        if #ids == 0 then return ids end
        for i = 1, #ids do ids[i] = 'o:' .. ids[i] end
        return redis.call('MGET', unpack(ids))
        """
}
