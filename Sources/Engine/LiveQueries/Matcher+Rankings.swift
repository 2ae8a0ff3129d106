import BackendContract
import JSONText
import Objects
import QueryLanguage
import Runtime

/// Watches of the first so many of an order.
extension Matcher {
    /// Lets the list of a group be made, not before its interval is over.
    func schedule(_ group: WatchGroup, atOnce: Bool = false) {
        guard !group.ranking.isScheduled else { return }
        group.ranking.isScheduled = true
        let interval = Int64(group.topic.interval) * 1_000_000
        let wait = group.ranking.made + interval - clock.nanoseconds()
        guard !atOnce, wait > 0 else { return make(group) }
        thread.async(after: .nanoseconds(wait)) { [weak self] in self?.make(group) }
    }

    /// Does nothing if the list is being made already.
    private func make(_ group: WatchGroup) {
        guard !group.ranking.isBeingMade else { return }
        guard let moment, let subscriber = group.subscribers.first?.value else {
            group.ranking.isScheduled = false
            return finishWaiting(for: group) { _ in true }
        }
        guard group.ranking.isStale else {
            group.ranking.isScheduled = false
            return finishWaiting(for: group) { _ in true }
        }
        group.ranking.isBeingMade = true
        group.ranking.isStale = false
        group.ranking.made = clock.nanoseconds()
        let (query, former) = (group.isVoid ? nil : group.query, group.ranking.list)
        // The list is the same for all; one of them has it made.
        lists.submit(for: subscriber.owner) { [weak self, restorations] in
            let made = RankedList.making(query, of: group.topic, at: moment, after: former)
            self?.thread.async { [weak self] in self?.install(made, in: group, restorations) }
        }
    }

    /// - Parameter restorations: how often the store had been restored.
    private func install(
        _ made: Result<RankedList, ServiceFailure>, in group: WatchGroup, _ restorations: Int
    ) {
        group.ranking.isScheduled = false
        group.ranking.isBeingMade = false
        if restorations == self.restorations {
            switch made {
            case .success(let list): install(list, in: group)
            case .failure(let failure): end(group, failure)
            }
        }
        let list = group.ranking.list
        let isOver = !group.ranking.isStale || group.subscribers.isEmpty
        // Not for the present: while writes go on, no list may ever be that.
        finishWaiting(for: group) { moment in
            isOver || list.map { ($0.change, $0.time) >= (moment.change, moment.time) } ?? true
        }
        guard group.ranking.isStale, !group.subscribers.isEmpty else { return }
        schedule(group, atOnce: !group.ranking.waiting.isEmpty)
    }

    /// Takes a list that was made for a watch that begins.
    ///
    /// - Parameter restorations: how often the store had been restored.
    func begin(_ group: WatchGroup, with list: RankedList, _ restorations: Int) {
        guard restorations == self.restorations else { return }
        install(list, in: group)
        guard !group.ranking.isScheduled else { return }
        group.ranking.isStale = moment?.change != list.change || moment?.time != list.time
        if group.ranking.isStale { schedule(group) }
    }

    /// Calls `ready` when the list of a group is that of a moment or a later one; at once for a
    /// group without a list.
    func whenListed(
        _ group: WatchGroup, _ moment: Moment, _ ready: @escaping @Sendable () -> Void
    ) {
        guard group.isRanking, group.ranking.isStale || group.ranking.isScheduled
        else { return ready() }
        group.ranking.waiting.append((moment, ready))
        if group.ranking.isScheduled {
            // The interval may have to pass yet.
            if group.ranking.isStale, !group.ranking.isBeingMade { make(group) }
        } else {
            schedule(group, atOnce: true)
        }
    }

    private func finishWaiting(for group: WatchGroup, _ isOver: (Moment) -> Bool) {
        let waiting = group.ranking.waiting
        group.ranking.waiting = waiting.filter { !isOver($0.moment) }
        for (moment, ready) in waiting where isOver(moment) { ready() }
    }

    /// Makes a list the present one, unless there is a later one.
    private func install(_ list: RankedList, in group: WatchGroup) {
        if let present = group.ranking.list,
            (present.change, present.time) > (list.change, list.time)
        {
            return
        }
        group.ranking.list = list
        for (watch, session) in group.subscribers { session.receive(watch, list) }
    }
}

extension RankedList {
    /// The list of a query at a moment.
    ///
    /// - Parameters:
    ///   - query: nil if nothing can match.
    ///   - former: the list before, whose objects may have left.
    static func making(
        _ query: Query?, of topic: WatchTopic, at moment: Moment, after former: RankedList?,
        until stop: StopSignal? = nil
    ) -> Result<RankedList, ServiceFailure> {
        do throws(ServiceFailure) {
            var list = RankedList(change: moment.change, time: moment.time, entries: [])
            if let query {
                list.entries = try entries(of: query, topic, at: moment, until: stop)
            }
            let bucket = moment.bucket(topic.bucket)
            let present = Set(list.entries.map(\.creation))
            for entry in former?.entries ?? [] where !present.contains(entry.creation) {
                list.departures[entry.creation] =
                    if let object = bucket?.object(created: entry.creation) {
                        object.change == entry.change ? .moved : .changed
                    } else if moment.state.bucket(topic.bucket, at: .min)?
                        .object(created: entry.creation) != nil
                    {
                        .expired
                    } else {
                        .deleted
                    }
            }
            return .success(list)
        } catch {
            return .failure(error)
        }
    }

    private static func entries(
        of query: Query, _ topic: WatchTopic, at moment: Moment, until stop: StopSignal?
    ) throws(ServiceFailure) -> [Entry] {
        let found = try moment.find(
            query, in: topic.bucket, atMost: query.limit ?? WatchQuery.rankedObjects, until: stop)
        let objects = found.objects
        var writer = JSONWriter()
        let ends = try found.write(0..<objects.count, maximumBytes: .max >> 1, into: &writer)
        let bytes = writer.bytes
        let bucket = moment.bucket(topic.bucket)
        var start = 0
        return zip(objects, ends).map { object, end in
            defer { start = end + 1 }
            let id = bucket?.object(created: object.creation)?.id
            return Entry(
                creation: object.creation, change: object.change, text: Array(bytes[start..<end]),
                id: id.map(Matcher.quoted) ?? [])
        }
    }
}
