import BackendContract
import JSONText
import Objects
import QueryLanguage

/// Watches of everything that matches.
extension Matcher {
    /// Compares what an object was and is by one group.
    func compare(
        _ group: WatchGroup, _ creation: ChangeNumber, _ old: ObjectFacts?, _ new: ObjectFacts?,
        _ deletion: ChangeNumber?, _ next: Moment, _ active: inout [WatchGroup]
    ) throws(ServiceFailure) {
        let remembers = group.remembersObjects
        let belonged =
            remembers
            ? group.members.contains(creation)
            : try old.map { facts throws(ServiceFailure) in
                try group.includes(facts, belonged: false)
            } ?? false
        let belongs =
            try new.map { facts throws(ServiceFailure) in
                try group.includes(facts, belonged: belonged)
            } ?? false
        guard belonged || belongs else { return }
        if remembers, belonged != belongs {
            if belongs { group.members.insert(creation) } else { group.members.remove(creation) }
            guard group.members.count <= limits.watchObjects else {
                return end(group, .tooManyWatched(limits))
            }
        }
        var shown: [UInt8]?
        if belonged, !group.rendering.showsEveryChange, let old {
            shown = try group.rendering.render(old)
        }
        let outcome: Outcome
        if belongs, let new {
            let text = try group.rendering.render(new)
            if text == shown { return }
            outcome = .present(text: text)
        } else {
            let reason = Self.reason(group.stayClause ?? group.clause, old, new, deletion, next)
            // The optimizer of Swift 6.3.1 crashes on `(old ?? new)?.object.id`.
            guard let gone = new ?? old else { return }
            outcome = .absent(reason, text: Self.quoted(gone.object.id))
        }
        if group.events.isEmpty { active.append(group) }
        group.events.append(
            WatchEvent(
                subject: WatchSubject(first: creation), held: belonged ? .yes : .no,
                outcome: outcome, change: new?.object.change ?? deletion ?? next.change,
                shown: shown))
    }

    /// Why an object has left.
    static func reason(
        _ clause: Clause, _ old: ObjectFacts?, _ new: ObjectFacts?, _ deletion: ChangeNumber?,
        _ next: Moment
    ) -> LeaveReason {
        guard let new else {
            if deletion == nil { return .expired }
            return old.map { $0.object.expiry <= next.time } == true ? .expired : .deleted
        }
        guard let old else { return .changed }
        return clause.differsInPlace(old, new) ? .moved : .changed
    }

    static func quoted(_ id: ObjectID) -> [UInt8] {
        var writer = JSONWriter(reserving: id.text.utf8.count + 2)
        writer.string(id.text)
        return writer.bytes
    }

    /// Finds what belongs to a watch with a radius of leaving.
    ///
    /// - Parameter former: what belonged to it before; it stays up to that radius.
    func establishMembers(
        _ group: WatchGroup, at moment: Moment, continuing former: Set<ChangeNumber>
    ) throws(ServiceFailure) {
        group.members = try belonging(to: group, at: moment, continuing: former)
    }

    private func belonging(
        to group: WatchGroup, at moment: Moment, continuing former: Set<ChangeNumber>
    ) throws(ServiceFailure) -> Set<ChangeNumber> {
        guard !group.isVoid else { return [] }
        var members = try matches(of: group.query.clause, group, at: moment)
        if let bucket = moment.bucket(group.topic.bucket) {
            let parser = JSONParser()
            for creation in former where !members.contains(creation) {
                guard let object = bucket.object(created: creation) else { continue }
                if try group.includes(ObjectFacts(object, parser), belonged: true) {
                    members.insert(creation)
                }
            }
        }
        guard members.count <= limits.watchObjects else { throw .tooManyWatched(limits) }
        return members
    }

    // MARK: Circles that follow an object

    /// A group with a circle that has moved in a step.
    struct MovedGroup {
        let group: WatchGroup
        /// What belonged to it before.
        let former: Former
    }

    /// A query before its circle moved.
    struct Former {
        /// Nil if nothing could match.
        let clause: Clause?
        let rendering: ObjectRendering
    }

    /// Moves the circles that follow objects.
    ///
    /// - Returns: the groups whose circles have moved, by their numbers, and those of pairs.
    func followCenters(
        _ touched: Touched, _ places: FollowedPlaces, from former: Moment, to next: Moment,
        _ active: inout [WatchGroup]
    ) -> (sets: [UInt32: MovedGroup], pairs: [WatchGroup]) {
        var moved: [UInt32: MovedGroup] = [:]
        var pairs: [WatchGroup] = []
        for group in followers(of: touched, places, former, next) {
            let before = Former(
                clause: group.isVoid ? nil : group.query.clause, rendering: group.rendering)
            let (hasMoved, hasComeOrGone) = group.follow(next, places)
            if hasComeOrGone { tellWhetherCenterIsMissing(group) }
            guard hasMoved else { continue }
            reindex(group)
            if group.isRanking {
                group.ranking.isStale = true
                active.append(group)
            } else if group.topic.pairs != nil {
                pairs.append(group)
            } else {
                moved[group.number] = MovedGroup(group: group, former: before)
            }
        }
        return (moved, pairs)
    }

    func tellWhetherCenterIsMissing(_ group: WatchGroup) {
        for (watch, session) in group.subscribers {
            session.receive(watch, isCenterMissing: !group.missing.isEmpty)
        }
    }

    /// Compares everything that belonged to a group with what belongs to it after its circle has
    /// moved: at most `watchObjects` on either side.
    ///
    /// - Parameter deletions: what was deleted, and by which change.
    func matchMoved(
        _ moved: MovedGroup, _ deletions: [ChangeNumber: ChangeNumber?], _ former: Moment,
        _ next: Moment, _ active: inout [WatchGroup]
    ) {
        let group = moved.group
        do throws(ServiceFailure) {
            let old: Set<ChangeNumber>
            let new: Set<ChangeNumber>
            if group.remembersObjects {
                old = group.members
                new = try belonging(to: group, at: next, continuing: old)
                group.members = new
            } else {
                old =
                    try moved.former.clause.map { clause throws(ServiceFailure) in
                        try matches(of: clause, group, at: former)
                    } ?? []
                new = group.isVoid ? [] : try matches(of: group.query.clause, group, at: next)
            }
            let events = try setDifference(
                DifferenceSide(former, old, moved.former.rendering),
                DifferenceSide(next, new, group.rendering), in: group.topic.bucket
            ) { object in
                if let deletion = deletions[object.creation] ?? nil {
                    return (object.expiry <= next.time ? .expired : .deleted, deletion)
                }
                return (object.expiry <= next.time ? .expired : .moved, next.change)
            }
            guard !events.isEmpty else { return }
            if group.events.isEmpty { active.append(group) }
            group.events += events
        } catch {
            // A snapshot follows, or the end if too many match.
            for (watch, session) in group.subscribers { session.resync(watch, .slow) }
        }
    }

    private func matches(
        of clause: Clause, _ group: WatchGroup, at moment: Moment
    ) throws(ServiceFailure) -> Set<ChangeNumber> {
        let found = try moment.find(
            Query(clause: clause), in: group.topic.bucket, atMost: limits.watchObjects)
        guard !found.hasMore else { throw .tooManyWatched(limits) }
        return Set(found.objects.lazy.map(\.creation))
    }
}
