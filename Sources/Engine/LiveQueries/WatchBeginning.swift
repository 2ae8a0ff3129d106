import BackendContract
import JSONText
import Objects
import QueryLanguage

/// What a watch begins with.
enum WatchBeginning: Sendable {
    /// A snapshot with its first piece, and whether the client has asked to go on and could have.
    case snapshot(SnapshotReader, SnapshotPiece, goesOn: Bool)
    /// A snapshot of a list.
    case list(RankedList, SnapshotReader, SnapshotPiece, goesOn: Bool)
    /// What has happened since the client was told last.
    case difference([WatchEvent])

    /// Whether a client's token was honoured, whichever way it was.
    var goesOn: Bool {
        switch self {
        case .snapshot(_, _, let goesOn), .list(_, _, _, let goesOn): goesOn
        case .difference: true
        }
    }
}

extension Limits {
    /// What the objects of one notification may occupy.
    var snapshotBytes: Int { max(replyBytes - 512, 1) }
}

extension Matcher.Basis {
    /// What a watch begins with at this moment.
    ///
    /// - Parameter change: what the client was told last; nil for a client that begins.
    func beginning(
        after change: ChangeNumber?, limits: Limits, _ matcher: Matcher, until stop: StopSignal?
    ) throws(ServiceFailure) -> WatchBeginning {
        let topic = group.topic
        if topic.query.isRanking {
            let list = try rankedList(matcher, until: stop)
            let reader = SnapshotReader(list.entries.map(\.text))
            return .list(
                list, reader, try reader.next(maximumBytes: limits.snapshotBytes), goesOn: true)
        }
        guard topic.pairs == nil else {
            let texts = PairSides(
                group.topic, query, moment, atMost: limits.watchPairs
            ).texts(of: couples.all)
            return try snapshot(SnapshotReader(texts), limits, goesOn: true)
        }
        guard let query else {
            return try snapshot(SnapshotReader([]), limits, goesOn: true)
        }
        guard topic.leaveRadius == nil else {
            guard members.count <= limits.watchObjects else { throw .tooManyWatched(limits) }
            return try snapshot(SnapshotReader(try memberTexts(query, stop)), limits, goesOn: true)
        }
        let found = try moment.find(
            query, in: topic.bucket, atMost: limits.watchObjects, until: stop)
        guard !found.hasMore else { throw .tooManyWatched(limits) }
        var goesOn = true
        if let change, topic.isResumable {
            switch try Resumption(after: change, self, found, matcher).difference() {
            case .events(let events): return .difference(events)
            case .costly: break
            case .forgotten: goesOn = false
            }
        }
        return try snapshot(SnapshotReader(found), limits, goesOn: goesOn)
    }

    private func snapshot(
        _ reader: SnapshotReader, _ limits: Limits, goesOn: Bool
    ) throws(ServiceFailure) -> WatchBeginning {
        .snapshot(reader, try reader.next(maximumBytes: limits.snapshotBytes), goesOn: goesOn)
    }

    /// What belongs to a watch with a radius of leaving, in the order of the query.
    private func memberTexts(
        _ query: Query, _ stop: StopSignal?
    ) throws(ServiceFailure) -> [[UInt8]] {
        var near = query
        near.clause = query.clause.withRadius(group.topic.leaveRadius!)
        let found = try moment.find(near, in: group.topic.bucket, atMost: 1 << 40, until: stop)
        let bucket = moment.bucket(group.topic.bucket)
        let rendering = ObjectRendering(
            fields: group.topic.fields, distances: query.clause.reportedDistances)
        let parser = JSONParser()
        var texts: [[UInt8]] = []
        for (creation, _) in found.objects where members.contains(creation) {
            guard let object = bucket?.object(created: creation) else { continue }
            texts.append(try rendering.render(ObjectFacts(object, parser)))
        }
        return texts
    }

    /// The list of a ranking at this moment or a later one.
    func rankedList(
        _ matcher: Matcher, until stop: StopSignal?
    ) throws(ServiceFailure) -> RankedList {
        let present = matcher.thread.sync { group.ranking.isStale ? nil : group.ranking.list }
        if let present, present.change >= moment.change { return present }
        let list = try RankedList.making(
            query, of: group.topic, at: moment, after: nil, until: stop
        ).get()
        return matcher.thread.sync {
            matcher.begin(group, with: list, restorations)
            return group.ranking.list ?? list
        }
    }

    /// The events that lead from what another query has at this moment to what this one has.
    func difference(
        from old: Matcher.Basis, limits: Limits, until stop: StopSignal?
    ) throws(ServiceFailure) -> [WatchEvent] {
        if group.topic.pairs != nil { return pairDifference(from: old, limits) }
        let bucket = group.topic.bucket
        func side(_ basis: Matcher.Basis, atMost count: Int) throws(ServiceFailure)
            -> DifferenceSide
        {
            let rendering = ObjectRendering(
                fields: group.topic.fields, distances: basis.query?.clause.reportedDistances ?? [])
            var members = basis.members
            if let query = basis.query, basis.group.topic.leaveRadius == nil {
                let found = try moment.find(
                    Query(clause: query.clause), in: bucket, atMost: count, until: stop)
                guard !found.hasMore else { throw .tooManyWatched(limits) }
                members = Set(found.objects.map(\.creation))
            }
            return DifferenceSide(moment, members, rendering)
        }
        let new = try side(self, atMost: limits.watchObjects)
        return try setDifference(try side(old, atMost: 1 << 40), new, in: bucket) { _ in
            (.query, nil)
        }
    }

    /// Couples that part say how they would meet now: when the watch moves back, and nobody has moved
    /// meanwhile, they are as they were.
    private func pairDifference(from old: Matcher.Basis, _ limits: Limits) -> [WatchEvent] {
        let sides = PairSides(group.topic, query, moment, atMost: limits.watchPairs)
        let oldSides = PairSides(old.group.topic, old.query, moment, atMost: limits.watchPairs)
        let (former, present) = (Set(old.couples.all), Set(couples.all))
        let gone = former.subtracting(present).compactMap { couple in
            oldSides.ids(of: couple).map {
                WatchEvent(
                    subject: couple, held: .yes, outcome: .absent(.query, text: $0), change: nil,
                    shown: oldSides.meeting(of: couple))
            }
        }
        let come = present.subtracting(former).compactMap { couple in
            sides.meeting(of: couple).map {
                WatchEvent(
                    subject: couple, held: .no, outcome: .present(text: $0),
                    change: max(couple.first, couple.second))
            }
        }
        return gone + come
    }
}
