import BackendContract
import Objects
import QueryLanguage

/// Watches of couples: who meets, and who parts.
extension Matcher {
    /// Takes the couples that were found beside the thread, brought up to a moment.
    func establishPairs(
        _ group: WatchGroup, at moment: Moment, _ search: CoupleSearch?
    ) throws(ServiceFailure) {
        guard let search, search.restorations == restorations else {
            throw ServiceFailure(
                .temporarilyUnavailable, "the store was restored meanwhile; start the watch again")
        }
        group.couples = try search.couples(at: moment)
    }

    /// Compares the couples of touched objects. A group that exceeds a limit ends.
    func matchPairs(
        _ group: WatchGroup, _ touched: [ChangeNumber: ChangeNumber?], in bucket: BucketName,
        _ former: Moment, _ next: Moment, _ active: inout [WatchGroup]
    ) {
        do throws(ServiceFailure) {
            let events = try limits.pairEvents(group, touched, in: bucket, former, next)
            guard !events.isEmpty else { return }
            if group.events.isEmpty { active.append(group) }
            group.events += events
        } catch {
            end(group, error)
        }
    }

    /// Compares all couples of a group whose circle has moved.
    func matchMovedPairs(
        _ group: WatchGroup, _ former: Moment, _ next: Moment, _ active: inout [WatchGroup]
    ) {
        do throws(ServiceFailure) {
            let first = try limits.firstSide(of: group, at: next)
            matchPairs(group, first, in: group.topic.bucket, former, next, &active)
        } catch {
            end(group, error)
        }
    }

    /// Finds the couples of a topic. It may take long, and no watch waits for it.
    ///
    /// - Parameter other: a former group of the topic, to which a watch returns.
    func search(
        for topic: WatchTopic, placedAs other: WatchGroup? = nil, until stop: StopSignal?
    ) throws(ServiceFailure) -> CoupleSearch? {
        guard topic.pairs != nil else { return nil }
        let (moment, draft, restorations) = try thread.sync {
            () throws(ServiceFailure) -> (Moment, WatchGroup, Int) in
            let moment = try present()
            return (moment, self.draft(of: topic, placedAs: other, at: moment), self.restorations)
        }
        let search = try CoupleSearch(
            draft, at: moment, limits, restorations: restorations, until: stop)
        // What has happened meanwhile, so that little is left for the thread.
        let (later, restorationsLater) = try thread.sync {
            () throws(ServiceFailure) -> (Moment, Int) in
            (try present(), self.restorations)
        }
        if restorationsLater == restorations { _ = try search.couples(at: later) }
        return search
    }

    /// A group that is matched by nobody.
    private func draft(
        of topic: WatchTopic, placedAs other: WatchGroup?, at moment: Moment
    ) -> WatchGroup {
        let draft = WatchGroup(topic, number: 0, placedAs: groups[topic] ?? other)
        _ = draft.follow(moment)
        return draft
    }
}
