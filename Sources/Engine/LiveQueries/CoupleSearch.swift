import BackendContract
import Objects
import QueryLanguage

/// The couples of a watch that begins: found at one moment, then brought up to later ones.
///
/// `@unchecked Sendable`: one thread at a time uses it.
final class CoupleSearch: @unchecked Sendable {
    private let draft: WatchGroup
    private let limits: Limits
    private var moment: Moment
    /// How often the store had been restored.
    let restorations: Int

    /// Finds the couples of a moment.
    ///
    /// - Parameters:
    ///   - draft: a group that nobody else uses.
    ///   - stop: ends the search early, with a failure.
    /// - Complexity: a search on the other side for each object of the first.
    init(
        _ draft: WatchGroup, at moment: Moment, _ limits: Limits, restorations: Int,
        until stop: StopSignal?
    ) throws(ServiceFailure) {
        (self.draft, self.moment, self.limits) = (draft, moment, limits)
        self.restorations = restorations
        guard !draft.isVoid else { return }
        let sides = PairSides(draft, moment, atMost: limits.watchPairs)
        let found = try moment.find(
            Query(clause: draft.query.clause), in: draft.topic.bucket,
            atMost: limits.watchObjects, until: stop)
        guard !found.hasMore else { throw .tooManyWatched(limits) }
        for (creation, _) in found.objects {
            if stop?.isStopped == true {
                throw ServiceFailure(.temporarilyUnavailable, "the search was stopped")
            }
            for (couple, distance) in try sides.couples(ofFirst: creation)
            where distance.isWithin(radiusMeters: sides.radius) {
                draft.couples.insert(couple)
            }
            guard draft.couples.count <= limits.watchPairs else { throw .tooManyPairs(limits) }
        }
    }

    /// The couples of a later moment of the same history.
    ///
    /// - Complexity: O(objects of both buckets / 256), and a search for each object that has changed.
    func couples(at next: Moment) throws(ServiceFailure) -> Couples {
        guard (moment.change, moment.time) != (next.change, next.time) else { return draft.couples }
        let buckets = (first: draft.topic.bucket, second: draft.topic.pairs!.bucket)
        var touched: Touched = [:]
        for bucket in Set([buckets.first, buckets.second]) {
            let changed = next.bucket(bucket)?.objects(changedAfter: moment.change, atMost: .max)
            for object in changed ?? [] {
                touched[bucket, default: [:]].updateValue(nil, forKey: object.creation)
            }
        }
        let (first, second) = (next.bucket(buckets.first), next.bucket(buckets.second))
        for couple in draft.couples.all {
            if first?.object(created: couple.first) == nil {
                touched[buckets.first, default: [:]].updateValue(nil, forKey: couple.first)
            }
            if second?.object(created: couple.second) == nil {
                touched[buckets.second, default: [:]].updateValue(nil, forKey: couple.second)
            }
        }
        if draft.follow(next).hasMoved {
            touched[buckets.first, default: [:]].merge(
                try limits.firstSide(of: draft, at: next)
            ) { first, _ in first }
        }
        for (bucket, creations) in touched {
            _ = try limits.pairEvents(draft, creations, in: bucket, moment, next)
        }
        moment = next
        return draft.couples
    }
}

/// How couples are compared, whichever thread does it.
extension Limits {
    /// Everything of the first side that has partners or may have some, as if it had been touched.
    func firstSide(
        of group: WatchGroup, at moment: Moment
    ) throws(ServiceFailure) -> [ChangeNumber: ChangeNumber?] {
        let isWithinOne = group.topic.pairs?.bucket == group.topic.bucket
        var objects = Set(
            group.couples.all.lazy.flatMap { isWithinOne ? [$0.first, $0.second] : [$0.first] })
        if !group.isVoid {
            let found = try moment.find(
                Query(clause: group.query.clause), in: group.topic.bucket, atMost: watchObjects)
            guard !found.hasMore else { throw .tooManyWatched(self) }
            objects.formUnion(found.objects.lazy.map(\.creation))
        }
        return Dictionary(uniqueKeysWithValues: objects.map { ($0, nil) })
    }

    /// Compares the couples of touched objects.
    ///
    /// - Returns: who has met and who has parted.
    func pairEvents(
        _ group: WatchGroup, _ touched: [ChangeNumber: ChangeNumber?], in bucket: BucketName,
        _ former: Moment, _ next: Moment
    ) throws(ServiceFailure) -> [WatchEvent] {
        let sides = PairSides(group, next, atMost: watchPairs)
        let formerSides = PairSides(group, former, atMost: watchPairs)
        var events: [WatchEvent] = []
        for (creation, deletion) in touched {
            let object = next.bucket(bucket)?.object(created: creation)
            var near = try sides.couples(of: creation, in: bucket)
            let change = object?.change ?? deletion ?? next.change
            for couple in group.couples.of(creation) {
                if near.removeValue(forKey: couple) != nil { continue }
                group.couples.remove(couple)
                let reason = formerSides.reason(creation, in: bucket, object, deletion, next)
                let text = sides.ids(of: couple) ?? formerSides.ids(of: couple) ?? []
                events.append(
                    WatchEvent(
                        subject: couple, held: .yes, outcome: .absent(reason, text: text),
                        change: change))
            }
            for (couple, distance) in near where distance.isWithin(radiusMeters: sides.radius) {
                guard let text = sides.meeting(of: couple, distance) else { continue }
                group.couples.insert(couple)
                events.append(
                    WatchEvent(
                        subject: couple, held: .no, outcome: .present(text: text), change: change))
            }
            guard group.couples.count <= watchPairs else { throw .tooManyPairs(self) }
        }
        return events
    }
}
