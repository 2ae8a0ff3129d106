import JSONText
import Objects
import QueryLanguage

/// What is to be read.
public enum ReadRequest: Sendable {
    /// The objects of a page, with commas between them.
    ///
    /// Who asks is said where it is known: what a query has made for later ones counts against it.
    case page(Query, in: BucketName, by: String? = nil)
    /// How many objects satisfy a clause; nothing is appended.
    case count(Clause, in: BucketName, by: String? = nil)
    /// A JSON object that says how a query would run and, with `analyze`, did run.
    case explanation(Query, in: BucketName, analyze: Bool)
    /// The buckets of a scope for which a condition holds, by name, with commas between them: those
    /// that come after one, or all.
    case buckets(
        in: BucketScope, after: BucketName?, where: @Sendable (BucketName) -> Bool)
}

/// A read that has been checked and planned, and what it takes is known: whoever has it decides on
/// which thread it is run.
///
///     let read = try backend.prepare(.page(query, in: shops))
///     let end = try read.run(maximumBytes: .max, until: nil, into: &writer)
///
/// It holds the state of the moment at which it was prepared and answers from that, whatever is
/// written before it runs; only one that waits for columns goes on with the state that has them. It
/// is run by one thread at a time. Run again, it appends the same again; never run, it does nothing.
public protocol PreparedRead: AnyObject, Sendable {
    /// Whether to run it may take more than a quarter of a millisecond, so that it is nothing for a
    /// thread that others wait for.
    var isCostly: Bool { get }

    /// Which bucket a query or count asks, and how it runs, without the values that it asks for.
    var outline: (bucket: BucketName, plan: String)? { get }

    /// Appends what it finds.
    ///
    /// - Parameters:
    ///   - maximumBytes: what a page may take, with the member that has the next page's key where
    ///     there is one; one object or bucket is appended even if it takes more.
    ///   - stop: what ends it soon, with a failure.
    func run(
        maximumBytes: Int, until stop: StopSignal?, into writer: inout JSONWriter
    ) throws(ServiceFailure) -> ReadEnd
}

extension PreparedRead {
    public var outline: (bucket: BucketName, plan: String)? { nil }
}

/// What a read has come to.
public struct ReadEnd: Sendable, Equatable {
    /// Objects or buckets that were appended or, for a count, found.
    public var count: Int
    /// Present exactly when at least one more follows.
    public var nextPaginationKey: String?

    public init(count: Int, nextPaginationKey: String? = nil) {
        self.count = count
        self.nextPaginationKey = nextPaginationKey
    }

    /// What the member that carries the next page's key takes in an answer.
    public static func keyMemberBytes(_ key: String) -> Int {
        #","nextPaginationKey":"""#.utf8.count + key.utf8.count
    }
}
