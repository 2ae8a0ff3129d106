import PlainJSON

/// The methods of the protocol, as both sides know them; the raw value is a method's index.
///
/// Only the service knows what a method needs, takes and does: that is its `Method`, in Operations.
public enum MethodName: Int, Sendable, CaseIterable {
    /// The version, store and limits of the service; needs no login.
    case info
    /// Whether the service answers; needs no login.
    case ping
    /// Counts, sizes and times of the service as a whole.
    case statistics
    /// The costly reads that run or wait for a thread.
    case activity
    /// Ends one of them.
    case cancel
    /// The nodes of a cluster that are to hold a bucket.
    case route
    /// Exchanges a token for the rights of the later requests of the connection.
    case login

    /// The buckets of one scope, by name.
    case listBuckets
    /// The number of objects that match a query.
    case count
    /// A page of the objects that match, or figures of all of them.
    case query
    /// How a query would run, and on request how it did.
    case explain
    /// The objects that match, counted by the cells of a map.
    case clusters
    /// The field paths of a bucket, with the types of their values.
    case fields
    /// All objects of a bucket at one state, piece by piece.
    case export
    /// Deletes a bucket with all its objects.
    case deleteBucket
    /// Deletes the objects that match a query.
    case deleteWhere

    /// Stores an object under a new id, which the service makes.
    case create
    /// Creates or replaces the object of an id.
    case put
    /// Merges a JSON Merge Patch (RFC 7396) into an object.
    case patch
    /// The object of an id.
    case get
    /// Deletes the object of an id.
    case delete
    /// Creates or replaces many objects, all or none.
    case putMany

    /// Begins a live query, whose notifications follow.
    case startWatch
    /// Gives a watch another query; the difference comes as events.
    case moveWatch
    /// Is answered when the watch has been told of all earlier writes.
    case syncWatch
    /// Ends a watch; none of its notifications follow.
    case stopWatch

    /// Compares everything that is derived with what is stored.
    case check
    /// A copy of the store's file at one state, piece by piece.
    case backup
    /// Gives free pages of the store's file back, for a while.
    case compact

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
        case .activity: ("server.activity", true)
        case .cancel: ("server.cancel", true)
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
        case .compact: ("store.compact", true)
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
