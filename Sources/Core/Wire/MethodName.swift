import PlainJSON

/// The methods of the protocol, as both sides know them; the raw value is a method's index.
///
/// Only the service knows what a method needs, takes and does: that is its `Method`, in Operations.
public enum MethodName: Int, Sendable, CaseIterable {
    case info, ping, statistics, route, login
    case listBuckets, count, query, explain, clusters, fields, export, deleteBucket, deleteWhere
    case create, put, patch, get, delete, putMany
    case startWatch, moveWatch, syncWatch, stopWatch
    case check, backup

    /// The name on the wire.
    public var text: StaticString { wire.text }

    /// Whether a client that has lost the answer may simply retry on another connection: the method
    /// changes nothing, and does not depend on earlier calls of its connection.
    public var mayBeRepeated: Bool { wire.mayBeRepeated }

    private var wire: (text: StaticString, mayBeRepeated: Bool) {
        switch self {
        case .info: ("server.info", true)
        case .ping: ("server.ping", true)
        case .statistics: ("server.stats", true)
        case .route: ("server.route", true)
        case .login: ("auth.login", false)
        case .listBuckets: ("bucket.list", true)
        case .count: ("bucket.count", true)
        case .query: ("bucket.query", true)
        case .explain: ("bucket.explain", true)
        case .clusters: ("bucket.clusters", true)
        case .fields: ("bucket.fields", true)
        case .export: ("bucket.export", false)
        case .deleteBucket: ("bucket.delete", false)
        case .deleteWhere: ("bucket.deleteWhere", false)
        case .create: ("object.create", false)
        case .put: ("object.put", false)
        case .patch: ("object.patch", false)
        case .get: ("object.get", true)
        case .delete: ("object.delete", false)
        case .putMany: ("object.putMany", false)
        case .startWatch: ("watch.start", false)
        case .moveWatch: ("watch.move", false)
        case .syncWatch: ("watch.sync", false)
        case .stopWatch: ("watch.stop", false)
        case .check: ("store.check", false)
        case .backup: ("store.backup", false)
        }
    }

    /// The method of this name on the wire.
    public init?(utf8: UnsafeBufferPointer<UInt8>) {
        var position = 0
        while let method = Self(rawValue: position) {
            if utf8.elementsEqualBytes(method.text) {
                self = method
                return
            }
            position += 1
        }
        return nil
    }

    /// The method of this name on the wire.
    public init?(_ text: String) {
        var text = text
        guard let method = text.withUTF8(Self.init(utf8:)) else { return nil }
        self = method
    }
}
