import BackendContract
import JSONText
import LiveQueries
import Objects
import QueryLanguage

/// Reads the params of one request one at a time; any left over at the end are refused by name.
struct Params {
    private let view: JSONView?
    private var members: MemberReader
    let limits: Limits

    /// - Parameter view: a JSON object, or nil for an empty one.
    init(_ view: JSONView?, _ limits: Limits) {
        self.view = view
        members = MemberReader(params: view)
        self.limits = limits
    }

    func finish(as method: MethodName) throws(ServiceFailure) {
        try members.finish(as: "\(method.text)")
    }

    /// A failure in one of the params.
    func failure(_ name: StaticString, _ message: String) -> ServiceFailure {
        members.failure(name, message)
    }

    // MARK: Any

    mutating func required(
        _ name: StaticString, _ expected: String
    ) throws(ServiceFailure) -> JSONView {
        try members.required(name, expected)
    }

    mutating func array(
        _ name: StaticString, _ expected: String
    ) throws(ServiceFailure) -> JSONView {
        try members.array(name, expected)
    }

    mutating func string(_ name: StaticString) throws(ServiceFailure) -> String {
        try members.string(name)
    }

    mutating func optionalString(_ name: StaticString) throws(ServiceFailure) -> String? {
        try members.optionalString(name)
    }

    /// False when absent.
    mutating func bool(_ name: StaticString) throws(ServiceFailure) -> Bool {
        try members.optionalBool(name) ?? false
    }

    // MARK: Shared params

    mutating func bucket() throws(ServiceFailure) -> BucketName {
        try BucketName(try members.string("bucket"))
    }

    mutating func id() throws(ServiceFailure) -> ObjectID {
        try Self.id(try members.required("id", "an object id"), at: "id")
    }

    static func id(_ value: JSONView, at path: String) throws(ServiceFailure) -> ObjectID {
        guard let text = value.string else {
            throw ServiceFailure(.invalidObjectID, "expected a string", at: path)
        }
        return try ObjectID(text, at: path)
    }

    mutating func document() throws(ServiceFailure) -> WrittenDocument {
        try WrittenDocument(
            try members.required("object", "a JSON object"), at: "object", limits: limits)
    }

    /// The type of an object that is created; nil if it has none.
    mutating func dataType() throws(ServiceFailure) -> String? {
        let dataType = try members.optionalString("dataType")
        let most = limits.dataTypeBytes
        if let dataType, !(1...most).contains(dataType.utf8.count) {
            throw failure("dataType", "expected 1 to \(most) bytes")
        }
        return dataType
    }

    mutating func patchOptions() throws(ServiceFailure) -> PatchOptions {
        var options: PatchOptions = []
        if try bool("storeNulls") { options.insert(.storesNulls) }
        if try bool("returnObject") { options.insert(.returnsObject) }
        // Answers are remembered without objects.
        if options.contains(.returnsObject), members.optional("requestKey") != nil {
            throw failure("returnObject", "it contradicts \"requestKey\"")
        }
        return options
    }

    mutating func version() throws(ServiceFailure) -> Int64? {
        try members.optionalInt("ifVersion", in: 1...Int.max).map(Int64.init)
    }

    /// The number by which `server.activity` lists a read.
    mutating func activityID() throws(ServiceFailure) -> Int {
        guard let id = try members.optionalInt("id", in: 1...Int.max) else {
            throw failure("id", "\"id\" is missing; expected a number that server.activity tells")
        }
        return id
    }

    /// The number of a change that a read has to see.
    mutating func atLeast() throws(ServiceFailure) -> UInt64? {
        try members.optionalInt("atLeast", in: 0...Int.max).map(UInt64.init)
    }

    /// The field in which a write must be newer than the stored object.
    mutating func ifNewer() throws(ServiceFailure) -> FieldPath? {
        guard let text = try members.optionalString("ifNewer") else { return nil }
        guard !text.isEmpty else { throw failure("ifNewer", "expected the path of a field") }
        // Objects have no other fields that begin so.
        guard !text.hasPrefix("_") else {
            throw failure("ifNewer", "only the service itself writes \"\(text)\"")
        }
        return FieldPath(text)
    }

    mutating func expiry() throws(ServiceFailure) -> Expiry {
        guard let value = members.optional("expiresAt") else { return .unchanged }
        if value.kind == .null { return .never }
        guard let time = value.number?.exactInt, (0...Self.latestTime).contains(time) else {
            throw failure(
                "expiresAt",
                "expected whole milliseconds since 1970, 0 to \(Self.latestTime), or null")
        }
        return .at(Int64(time))
    }

    /// 2^53 - 1: numbers up to this are exact in every client.
    private static let latestTime = 9_007_199_254_740_991

    mutating func query() throws(ServiceFailure) -> Query {
        try QueryParser(limits: limits).query(from: &members)
    }

    mutating func clusterQuery() throws(ServiceFailure) -> ClusterQuery {
        try QueryParser(limits: limits).clusterQuery(from: &members)
    }

    mutating func clause() throws(ServiceFailure) -> Clause {
        try QueryParser(limits: limits).clause(from: &members)
    }

    mutating func watchRequest() throws(ServiceFailure) -> WatchRequest {
        let bucket = try bucket()
        return try WatchRequest(bucket: bucket, from: &members, limits: limits)
    }

    mutating func watchQuery() throws(ServiceFailure) -> WatchQuery {
        try WatchQuery(from: &members, limits: limits)
    }

    /// The client's key for a write with these params.
    mutating func requestKey(of method: MethodName) throws(ServiceFailure) -> RequestKey? {
        guard let text = try members.optionalString("requestKey"), let view else { return nil }
        guard (1...limits.requestKeyBytes).contains(text.utf8.count) else {
            throw failure("requestKey", "expected 1 to \(limits.requestKeyBytes) bytes")
        }
        return RequestKey(
            text: text, request: Array("\(method.text) ".utf8) + minifiedJSON(view.text))
    }
}
