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
