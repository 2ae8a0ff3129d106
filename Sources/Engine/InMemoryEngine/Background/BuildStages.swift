import BackendContract
import Objects
import Runtime

/// How far the columns and orders are that were asked for; pure. A name has one stage, or none if
/// nothing was asked for or nothing came of it: then it may be asked for (again).
///
///     stages.want(.column(kind), of: shops, isRemembered: false)
///     let build = stages.next(where: isFree) { objects(in: $0) }!   // wanted → building
///     stages.finish(build.ticket, .column(kind), of: shops, as: .installed(isVacant: false))
///     stages.publish()                                              // installed → published
///
/// What is being built belongs to a ticket. When the job of a ticket ends, however it does, nothing
/// is left that belongs to it; events of a ticket that has ended have no effect.
struct BuildStages {
    /// What is built of a field of a bucket.
    enum Part: Hashable {
        case column(FieldPath)
        case order(FieldPath)

        var isOrder: Bool { if case .order = self { true } else { false } }

        var field: FieldPath {
            switch self {
            case .column(let field), .order(let field): field
            }
        }
    }

    /// Names a build. No two have the same.
    typealias Ticket = Int

    /// The place of something wanted; lower ones come first. What queries ask for comes before what
    /// is remembered from before a start.
    struct Place: Comparable {
        let isRemembered: Bool
        let number: Int

        static func < (a: Place, b: Place) -> Bool {
            a.isRemembered == b.isRemembered ? a.number < b.number : b.isRemembered
        }
    }

    /// The stage of a name. A column is vacant if no object has its field.
    enum Stage {
        case wanted(Place)
        case building(Ticket, Place)
        /// The next snapshot has the column.
        case installed(isVacant: Bool)
        /// Readers see the column.
        case published(isVacant: Bool)
        /// The column did not fit, and is not wanted before a time.
        case refused(until: MonotonicTime)

        /// Whether it is on its way to the readers.
        var isUnderWay: Bool {
            switch self {
            case .wanted, .building, .installed: true
            case .published, .refused: false
            }
        }

        /// Whether the column is vacant; nil if there is none yet.
        var isVacant: Bool? {
            switch self {
            case .installed(let isVacant), .published(let isVacant): isVacant
            case .wanted, .building, .refused: nil
            }
        }
    }

    /// Some columns of a bucket, or one order, to be built together.
    struct Build {
        let ticket: Ticket
        let bucket: BucketName
        let parts: [Part]
        /// The thread, from 0.
        let lane: Int
    }

    private struct Lane {
        let ticket: Ticket
        let cost: Int
    }

    private var stages: [BucketName: [Part: Stage]] = [:]
    /// The number of wanted parts of each bucket that has any.
    private var wanted: [BucketName: Int] = [:]
    /// The number of parts that queries want.
    private var wantedByQueries = 0
    private var lanes = [Lane?](repeating: nil, count: laneCount)
    private var lastNumber = 0

    /// The number of columns that one build makes. Their values are inserted together.
    static let columnsAtOnce = 16
    /// The number of threads that build.
    static let laneCount = 2
    /// A build begins beside others only if it costs at most one in so many of what they do. So a
    /// small build never waits for a large one, and a large one has its processor to itself.
    static let smallShare = 4
    /// The number of parts that may be wanted by queries; more are not taken.
    static let mostWanted = 1_024

    // MARK: State

    /// Whether nothing is being built or waits to be built.
    var isIdle: Bool { wanted.isEmpty && lanes.allSatisfy { $0 == nil } }

    func stage(of part: Part, in bucket: BucketName) -> Stage? { stages[bucket]?[part] }

    /// Whether a column is on its way to the readers.
    func isUnderWay(_ field: FieldPath, of bucket: BucketName) -> Bool {
        stage(of: .column(field), in: bucket)?.isUnderWay == true
    }

    /// Whether columns of a bucket wait to be built.
    func wantsColumns(of bucket: BucketName) -> Bool {
        wanted[bucket] != nil
            && stages[bucket]!.contains { !$0.key.isOrder && $0.value.wantedPlace != nil }
    }

    /// Every name and its stage.
    var all: some Sequence<(bucket: BucketName, part: Part, stage: Stage)> {
        stages.lazy.flatMap { bucket, parts in
            parts.lazy.map { (bucket: bucket, part: $0.key, stage: $0.value) }
        }
    }

    /// The columns at some stages.
    func columns(at isMeant: (Stage) -> Bool) -> [ColumnName] {
        all.compactMap { bucket, part, stage in
            guard case .column(let field) = part, isMeant(stage) else { return nil }
            return ColumnName(bucket: bucket, field: field)
        }
    }

    // MARK: Wanted

    /// Asks for something, unless it has a stage already.
    ///
    /// - Returns: whether it is new.
    mutating func want(
        _ part: Part, of bucket: BucketName, isRemembered: Bool, at now: MonotonicTime
    ) -> Bool {
        switch stage(of: part, in: bucket) {
        case .wanted(let place) where place.isRemembered && !isRemembered: break
        case .refused(let until) where until <= now: break
        case nil: break
        default: return false
        }
        guard isRemembered || wantedByQueries < Self.mostWanted else { return false }
        lastNumber += 1
        set(.wanted(Place(isRemembered: isRemembered, number: lastNumber)), part, of: bucket)
        return true
    }

    /// Takes what is to be built next, if there is a thread for it: parts of the bucket that was
    /// asked for first and that may be built.
    ///
    /// - Parameters:
    ///   - isFree: whether a job may begin on the bucket.
    ///   - cost: about how much work a build of the bucket is, in any unit.
    mutating func next(
        where isFree: (BucketName) -> Bool, cost: (BucketName) -> Int
    ) -> Build? {
        guard !wanted.isEmpty, let lane = lanes.firstIndex(where: { $0 == nil }) else {
            return nil
        }
        let least = lanes.compactMap { $0?.cost }.min() ?? .max
        let firsts = wanted.keys.compactMap { bucket -> (bucket: BucketName, place: Place)? in
            guard isFree(bucket), cost(bucket) <= least / Self.smallShare else { return nil }
            return stages[bucket]!.values.compactMap(\.wantedPlace).min().map { (bucket, $0) }
        }
        guard let bucket = firsts.min(by: { $0.place < $1.place })?.bucket else { return nil }
        lastNumber += 1
        lanes[lane] = Lane(ticket: lastNumber, cost: cost(bucket))
        return take(of: bucket, lastNumber, lane)
    }

    private mutating func take(of bucket: BucketName, _ ticket: Ticket, _ lane: Int) -> Build {
        let waiting = stages[bucket]!.compactMap { part, stage in
            stage.wantedPlace.map { (part: part, place: $0) }
        }.sorted { $0.place < $1.place }
        let isOrder = waiting[0].part.isOrder
        let taken = waiting.filter { $0.part.isOrder == isOrder }
            .prefix(isOrder ? 1 : Self.columnsAtOnce)
        for (part, place) in taken { set(.building(ticket, place), part, of: bucket) }
        return Build(ticket: ticket, bucket: bucket, parts: taken.map(\.part), lane: lane)
    }

    // MARK: The end of a build

    /// Notes that the thread of a build is free again.
    mutating func leave(_ ticket: Ticket) {
        for lane in lanes.indices where lanes[lane]?.ticket == ticket { lanes[lane] = nil }
    }

    /// Ends the build of a part.
    ///
    /// - Parameter stage: nil if nothing has come of it, or nothing is left to be noted.
    mutating func finish(
        _ ticket: Ticket, _ part: Part, of bucket: BucketName, as stage: Stage?
    ) {
        guard case .building(ticket, _) = self.stage(of: part, in: bucket) else { return }
        set(stage, part, of: bucket)
    }

    /// Ends a build of which nothing comes.
    ///
    /// - Parameter again: whether its parts are still wanted, in their places.
    mutating func giveUp(_ ticket: Ticket, of bucket: BucketName, again: Bool = false) {
        for (part, stage) in stages[bucket] ?? [:] {
            guard case .building(ticket, let place) = stage else { continue }
            set(again ? .wanted(place) : nil, part, of: bucket)
        }
    }

    /// Notes that readers see every installed column.
    ///
    /// - Returns: the buckets of those columns.
    mutating func publish() -> Set<BucketName> {
        var published: Set<BucketName> = []
        for (bucket, part, stage) in Array(all) {
            guard case .installed(let isVacant) = stage else { continue }
            set(.published(isVacant: isVacant), part, of: bucket)
            published.insert(bucket)
        }
        return published
    }

    // MARK: Removal

    /// Notes that a column is gone.
    ///
    /// - Parameter until: before this time it is not wanted again.
    mutating func remove(_ column: FieldPath, of bucket: BucketName, until: MonotonicTime? = nil) {
        set(until.map { .refused(until: $0) }, .column(column), of: bucket)
    }

    /// Forgets everything about a bucket that was deleted.
    mutating func remove(_ bucket: BucketName) {
        for part in (stages[bucket] ?? [:]).keys { set(nil, part, of: bucket) }
    }

    /// Forgets the refusals that are over.
    mutating func forgetRefusals(before now: MonotonicTime) {
        for (bucket, part, stage) in Array(all) {
            if case .refused(let until) = stage, until <= now { set(nil, part, of: bucket) }
        }
    }

    // MARK: Every change

    private mutating func set(_ stage: Stage?, _ part: Part, of bucket: BucketName) {
        count(stages[bucket]?[part], -1, of: bucket)
        count(stage, 1, of: bucket)
        stages[bucket, default: [:]][part] = stage
        if stages[bucket]!.isEmpty { stages[bucket] = nil }
    }

    private mutating func count(_ stage: Stage?, _ change: Int, of bucket: BucketName) {
        guard case .wanted(let place) = stage else { return }
        if !place.isRemembered { wantedByQueries += change }
        wanted[bucket, default: 0] += change
        if wanted[bucket] == 0 { wanted[bucket] = nil }
    }
}

extension BuildStages.Stage {
    /// The place of something that waits to be built.
    fileprivate var wantedPlace: BuildStages.Place? {
        if case .wanted(let place) = self { place } else { nil }
    }
}
