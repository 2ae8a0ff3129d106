import SpatialIndex

extension Engine {
    /// Thresholds and batch sizes of work that pays off in large buckets. Tests lower them so that
    /// small buckets exercise everything.
    public struct Tuning: Sendable {
        /// The least number of objects in a bucket for which columns and orders are built.
        public var smallestBucket = 64
        /// A query that would read this many documents because a column is missing requests the
        /// column.
        public var documentsForColumn = 64
        /// A query that would read this many documents waits for a column that is being built.
        public var documentsForWaiting = 20_000
        /// A query that would visit this many candidates because an order is missing requests the
        /// order.
        public var candidatesForOrder = 4_096
        /// The factor by which an order would have to reduce the query's cost.
        public var gainForOrder = 4.0
        /// The number of documents that a column build reads at once.
        public var documentsAtOnce = 1_024
        /// The time before a column that did not fit is tried again.
        public var refusal = Duration.seconds(60)
        /// A bucket is renumbered when it has at least this many holes among its slots…
        public var holes = 64
        /// …and more than one slot in this many is a hole.
        public var slotsPerHole = 4
        /// The number of objects, changed while a background job ran, that the writer brings up to
        /// date itself.
        public var objectsTakenOn = 128
        /// The number of points that an index collects before they become a tree; at least 8.
        public var pointsPerTree = PointIndex.defaultDeltaCapacity
        /// The least time with hardly any writes to an index before it is merged into one tree.
        public var rest = Duration.seconds(1)
        /// A write of at least this many bytes does not join the writes of other owners in one
        /// transaction.
        public var bytesForOwnGroup = 1 << 16
        /// From this many objects in a bucket, `deleteWhere` no longer hands each document to the
        /// engine.
        public var objectsForFreezing = 1_000
        /// A deletion of more objects is written as a list, and the rows are removed later. The rows of
        /// so many large objects take about half of what a turn of the writer's thread may take.
        public var deletedAtOnce = 64
        /// More objects than this are not deleted one by one on the writer's thread: the bucket
        /// without them is made beside it.
        public var deletedInPlace = 2_000
        /// The processor time after which the writer's thread leaves the rest of what can wait to a
        /// later turn.
        public var turn = Duration.milliseconds(5)
        /// The number of expired objects or old request records that one transaction removes.
        public var removedAtOnce = 1_000
        /// The time that a search may take on an event loop when its estimate is cheap. After that, a
        /// worker thread starts it again.
        public var briefSearch = Duration.milliseconds(2)
        /// No more free pages of the store's file than these are given back unless they are asked for.
        public var freePages = 4_096
        /// The interval of housekeeping.
        public var housekeeping = Duration.seconds(1)

        /// The values that a service runs with.
        public init() {}
    }
}
