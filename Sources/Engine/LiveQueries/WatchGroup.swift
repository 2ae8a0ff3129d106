import BackendContract
import Geodesy
import Objects
import QueryLanguage

/// Watches that tell the same, and what is known of what they tell.
///
/// `@unchecked Sendable`: only the matcher's thread uses it, except for what never changes.
final class WatchGroup: @unchecked Sendable {
    let topic: WatchTopic
    let scope: [UInt8]
    /// The number under which the index of its bucket has it.
    let number: UInt32
    let isRanking: Bool
    /// Whether what belongs to it depends on what belonged to it before.
    let remembersObjects: Bool
    /// The watches, by their numbers in the hub.
    var subscribers: [Int: WatchSession] = [:]

    /// The query with its circles where they are now.
    private(set) var query: Query
    /// The query's clause, cheapest parts first.
    private(set) var clause: Clause
    /// The clause by which what is there stays; nil if that is the same.
    private(set) var stayClause: Clause?
    private(set) var rendering: ObjectRendering
    /// Whether a circle follows an object that has been nowhere yet. Then nothing matches.
    private(set) var isVoid = false
    /// What the index finds it by; nil if it has to be tried for each write.
    var keys: [WatchKey]?

    /// Where the objects were that circles follow, by the places of their clauses. One that is
    /// missing has been nowhere yet.
    private(set) var positions: [Int: Coordinate] = [:]
    /// The followed objects that are gone.
    private(set) var missing: Set<Int> = []

    /// What belongs to the watch, if that depends on what belonged to it before.
    var members: Set<ChangeNumber> = []
    /// The couples, for a watch of pairs.
    var couples = Couples()
    /// The list, and whether it has to be made again, for a ranking.
    private(set) lazy var ranking = Ranking()

    /// What has happened in the step that is being matched.
    var events: [WatchEvent] = []
    /// The last object for which the group was a candidate, so that it is tried once.
    var candidacy = 0

    final class Ranking {
        var list: RankedList?
        /// Something has happened since the list was made.
        var isStale = false
        /// The list is being made, or will be when its time has come.
        var isScheduled = false
        var isBeingMade = false
        /// Called when the list is that of a moment or a later one.
        var waiting: [(moment: Moment, ready: @Sendable () -> Void)] = []
        /// When the list was last made, in nanoseconds of the monotonic clock.
        var made: Int64 = 0
    }

    /// - Parameter other: a group of the topic that knows where followed objects were.
    init(_ topic: WatchTopic, number: UInt32, placedAs other: WatchGroup? = nil) {
        self.topic = topic
        self.number = number
        isRanking = topic.query.isRanking
        remembersObjects = topic.remembersObjects
        scope = topic.scope
        query = topic.query.query
        clause = .all
        rendering = ObjectRendering(fields: topic.fields, distances: [])
        positions = other?.positions ?? [:]
        missing = other?.missing ?? []
        prepare()
    }

    /// Looks where the followed objects are; the last place of one that is nowhere counts.
    ///
    /// - Parameter places: where they were between the last look and the moment.
    /// - Returns: whether a circle has moved, and whether a followed object has come or gone.
    func follow(
        _ moment: Moment, _ places: FollowedPlaces = FollowedPlaces()
    ) -> (hasMoved: Bool, hasComeOrGone: Bool) {
        let (formerPositions, formerlyMissing) = (positions, missing)
        for center in topic.query.centers {
            let object = moment.bucket(center.bucket)?.object(center.id)
            if let position = object?.points(at: center.field).first {
                positions[center.ordinal] = position
                missing.remove(center.ordinal)
            } else {
                missing.insert(center.ordinal)
                let last = places.place(of: center.id, at: center.field, in: center.bucket)
                if let last { positions[center.ordinal] = last }
            }
        }
        let hasMoved = positions != formerPositions
        if hasMoved { prepare() }
        return (hasMoved, missing.isEmpty != formerlyMissing.isEmpty)
    }

    private func prepare() {
        isVoid = topic.query.centers.contains { positions[$0.ordinal] == nil }
        if !positions.isEmpty {
            query.clause = topic.query.query.clause.movingCenters(to: positions)
        }
        query.fields = topic.fields
        clause = query.clause.cheapestFirst
        stayClause = topic.leaveRadius.map { query.clause.withRadius($0).cheapestFirst }
        rendering = ObjectRendering(
            fields: topic.fields, distances: query.clause.reportedDistances)
    }

    /// The keys of the clause as it is now.
    var presentKeys: [WatchKey]? { WatchKey.keys(of: stayClause ?? clause) }

    /// Whether an object belongs to the watch now.
    ///
    /// - Parameter belonged: whether it did before.
    func includes(_ facts: ObjectFacts, belonged: Bool) throws(ServiceFailure) -> Bool {
        if isVoid { return false }
        if try clause.truth(of: facts) == .yes { return true }
        guard belonged, let stayClause else { return false }
        return try stayClause.truth(of: facts) == .yes
    }
}
