import PlainJSON

/// The methods; the raw value is a method's place among them.
public enum MethodName: Int, Sendable, CaseIterable {
    case info
    case ping
    case statistics
    case login
    case listBuckets
    case count
    case query
    case explain
    case export
    case deleteBucket
    case deleteWhere
    case create
    case put
    case patch
    case get
    case delete
    case putMany
    case check
    case backup

    /// The method of this name on the wire.
    public init?(utf8: UnsafeBufferPointer<UInt8>) {
        var place = 0
        while let method = Self(rawValue: place) {
            if utf8.elementsEqualBytes(method.text) {
                self = method
                return
            }
            place += 1
        }
        return nil
    }

    /// The method of this name on the wire.
    public init?(_ text: String) {
        var text = text
        guard let method = text.withUTF8(Self.init(utf8:)) else { return nil }
        self = method
    }

    /// Whether it changes objects.
    public var isWrite: Bool {
        switch self {
        case .deleteBucket, .deleteWhere, .create, .put, .patch, .delete, .putMany: true
        default: false
        }
    }

    /// Whether doing it twice does no harm, so that a client may ask again when its connection was
    /// lost. An export and a backup go on where their connection left off, and end with it.
    public var isRepeatable: Bool {
        switch self {
        case .info, .ping, .statistics, .listBuckets, .count, .query, .explain, .get: true
        default: false
        }
    }

    /// The name on the wire.
    public var text: StaticString {
        switch self {
        case .info: "server.info"
        case .ping: "server.ping"
        case .statistics: "server.stats"
        case .login: "auth.login"
        case .listBuckets: "bucket.list"
        case .count: "bucket.count"
        case .query: "bucket.query"
        case .explain: "bucket.explain"
        case .export: "bucket.export"
        case .deleteBucket: "bucket.delete"
        case .deleteWhere: "bucket.deleteWhere"
        case .create: "object.create"
        case .put: "object.put"
        case .patch: "object.patch"
        case .get: "object.get"
        case .delete: "object.delete"
        case .putMany: "object.putMany"
        case .check: "store.check"
        case .backup: "store.backup"
        }
    }
}
