import JSONText

/// What `server.stats` and `server.activity` said at a moment.
struct ServiceSample: Sendable {
    /// The requests of one method.
    struct Method: Sendable {
        var name: String
        var count: Int
        var errors: Int
        var microseconds: Int
        /// How many took at most so many microseconds and more than the step before, ascending.
        var durations: [(end: Int, count: Int)]
    }

    /// The requests about one bucket.
    struct Busy: Sendable {
        var bucket: String
        var requests: Int
        var microseconds: Int
    }

    /// A costly read.
    struct Running: Sendable {
        var id: Int
        var method: String
        var milliseconds: Int
        var principal: String
        var bucket: String
        var plan: String
    }

    /// Seconds of the monotonic clock of whoever asked.
    var moment: Double
    /// Every number of `server.stats`, by its path: `memory.residentBytes`.
    private(set) var numbers: [String: Double] = [:]
    private(set) var methods: [Method] = []
    private(set) var busiest: [Busy] = []
    private(set) var running: [Running] = []

    /// Reads both answers.
    init(stats: [UInt8], activity: [UInt8], at moment: Double) throws {
        self.moment = moment
        try JSONParser.reading(stats) { read($0, "") }
        running = try JSONParser.reading(activity) { view in
            view["requests"]?.elements.map { request in
                Running(
                    id: request.int("id"), method: request["method"]?.string ?? "",
                    milliseconds: request.int("milliseconds"),
                    principal: request["principal"]?.string ?? request["address"]?.string ?? "",
                    bucket: request["bucket"]?.string ?? "", plan: request["plan"]?.string ?? "")
            } ?? []
        }
    }

    /// A number of `server.stats`; 0 if it is missing.
    subscript(path: String) -> Double { numbers[path] ?? 0 }

    func int(_ path: String) -> Int { Int(self[path]) }

    private mutating func read(_ view: JSONView, _ path: String) {
        for member in view.members {
            let name = String(decoding: member.name, as: UTF8.self)
            switch name {
            case "requests" where path.isEmpty: methods = member.value.members.map(Method.init)
            case "busiest":
                busiest = member.value.elements.map {
                    Busy(
                        bucket: $0["bucket"]?.string ?? "", requests: $0.int("requests"),
                        microseconds: $0.int("microseconds"))
                }
            default:
                if let number = member.value.number?.double { numbers[path + name] = number }
                if member.value.kind == .object { read(member.value, path + name + ".") }
            }
        }
    }

    /// What happened since an earlier sample of the same process; everything if there is none.
    func since(_ earlier: ServiceSample?) -> [Method] {
        methods.map { method in
            guard let former = earlier?.methods.first(where: { $0.name == method.name }) else {
                return method
            }
            var change = method
            change.count -= former.count
            change.errors -= former.errors
            change.microseconds -= former.microseconds
            let counts = Dictionary(
                former.durations.map { ($0.end, $0.count) }, uniquingKeysWith: { $1 })
            change.durations = method.durations.map { ($0.end, $0.count - (counts[$0.end] ?? 0)) }
            return change
        }
    }
}

extension ServiceSample.Method {
    fileprivate init(_ member: JSONView.Member) {
        let value = member.value
        self.init(
            name: String(decoding: member.name, as: UTF8.self), count: value.int("count"),
            errors: value.int("errors"), microseconds: value.int("microseconds"),
            durations: value["durations"]?.elements.map { step in
                let numbers = step.elements.map { $0.number?.exactInt ?? 0 }
                return (numbers.first ?? 0, numbers.last ?? 0)
            } ?? [])
    }

    /// The time in which a share of the requests was answered, in microseconds, rounded up to a step;
    /// nil if there were none.
    func percentile(_ share: Double) -> Int? {
        let total = durations.reduce(0) { $0 + $1.count }
        guard total > 0 else { return nil }
        var left = Int((Double(total) * share).rounded(.up))
        for (end, count) in durations {
            left -= count
            if left <= 0 { return end }
        }
        return durations.last?.end
    }
}

extension JSONView {
    fileprivate func int(_ name: StaticString) -> Int { self[name]?.number?.exactInt ?? 0 }
}
