import Objects
import QueryLanguage

/// What a request asks for, its params read and valid.
public enum MethodCall: Sendable {
    case info
    case ping
    case statistics
    case login(token: String)
    case listBuckets(BucketScope, after: BucketName?)
    case count(BucketName, Clause)
    case query(BucketName, Query)
    case explain(BucketName, Query, analyze: Bool)
    case export(BucketName, continues: Bool)
    case deleteBucket(BucketName)
    case deleteWhere(BucketName, Clause)
    case create(BucketName, WrittenDocument, dataType: String?, Expiry)
    case put(BucketName, ObjectID, WrittenDocument, WriteCondition, Expiry)
    /// The patch as JSON text.
    case patch(BucketName, ObjectID, [UInt8], ifVersion: Int64?, Expiry)
    case get(BucketName, ObjectID)
    case delete(BucketName, ObjectID, ifVersion: Int64?)
    /// Everything derived against what is stored.
    case check
    /// The next piece of a copy of the store.
    case backup(continues: Bool)
    case putMany(BucketName, [(id: ObjectID?, document: WrittenDocument)], Expiry)
}

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
    init?(utf8: UnsafeBufferPointer<UInt8>) {
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

    /// Whether it changes objects.
    public var isWrite: Bool {
        switch self {
        case .deleteBucket, .deleteWhere, .create, .put, .patch, .delete, .putMany: true
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
