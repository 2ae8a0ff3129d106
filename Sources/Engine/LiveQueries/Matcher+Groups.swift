import BackendContract
import Objects
import QueryLanguage

/// Who watches what.
extension Matcher {
    /// Adds a watch to the group of its topic, which is made if there is none.
    ///
    /// - Parameters:
    ///   - moment: the present one.
    ///   - other: a group of the topic that is no longer there, and knows where followed objects
    ///     were.
    func subscribe(
        _ session: WatchSession, _ watch: Int, to topic: WatchTopic, at moment: Moment,
        _ search: CoupleSearch?,
        continuing former: Set<ChangeNumber> = [], placedAs other: WatchGroup? = nil
    ) throws(ServiceFailure) -> Basis {
        if let group = groups[topic] {
            group.subscribers[watch] = session
            return basis(of: group, moment)
        }
        let group = try newGroup(topic, moment, placedAs: other)
        group.subscribers[watch] = session
        do {
            try establish(group, at: moment, continuing: former, search)
        } catch {
            unsubscribe(watch, from: group)
            throw error
        }
        return basis(of: group, moment)
    }

    func basis(of group: WatchGroup, _ moment: Moment) -> Basis {
        Basis(
            moment: moment, group: group, query: group.isVoid ? nil : group.query,
            members: group.members, couples: group.couples,
            isCenterMissing: !group.missing.isEmpty, restorations: restorations)
    }

    private func newGroup(
        _ topic: WatchTopic, _ moment: Moment, placedAs other: WatchGroup?
    ) throws(ServiceFailure) -> WatchGroup {
        let number = freeNumbers.popLast() ?? UInt32(numbered.count)
        let group = WatchGroup(topic, number: number, placedAs: other)
        _ = group.follow(moment)
        group.keys = group.presentKeys
        do throws(ServiceFailure) { try checkTries(of: group) } catch {
            freeNumbers.append(number)
            throw error
        }
        if Int(number) == numbered.count { numbered.append(nil) }
        numbered[Int(number)] = group
        groups[topic] = group
        enter(group)
        return group
    }

    /// Refuses one too many of the groups that have to be tried for each write of a bucket.
    private func checkTries(of group: WatchGroup) throws(ServiceFailure) {
        let topic = group.topic
        guard group.keys == nil || topic.pairs != nil else { return }
        for bucket in [topic.bucket, topic.pairs?.bucket].compactMap(\.self) {
            guard (buckets[bucket]?.tried ?? 0) >= limits.unindexedWatches else { continue }
            throw ServiceFailure(
                .tooManyRequests,
                "\(limits.unindexedWatches) queries of the bucket are watched already that have to "
                    + "be tried for each write: neither an area nor a value has to match, or they "
                    + "are of pairs",
                at: topic.pairs == nil ? "bucketQuery.clause" : "pairs")
        }
    }

    private func enter(_ group: WatchGroup) {
        let topic = group.topic
        if let pairs = topic.pairs {
            for bucket in Set([topic.bucket, pairs.bucket]) {
                buckets[bucket, default: WatchedBucket()].pairs.append(group.number)
            }
        } else {
            buckets[topic.bucket, default: WatchedBucket()].index.insert(
                group.number, under: group.keys)
        }
        for center in topic.query.centers {
            buckets[center.bucket, default: WatchedBucket()]
                .followers[center.id, default: []].append(group.number)
            queue.follow(center.id, in: center.bucket, true)
        }
        for bucket in topic.buckets { noteExpiry(in: bucket) }
        arm()
    }

    /// Removes a watch, and its group if no other watch is left.
    func unsubscribe(_ watch: Int, from group: WatchGroup) {
        guard !isStopped, group.subscribers.removeValue(forKey: watch) != nil,
            group.subscribers.isEmpty
        else { return }
        let topic = group.topic
        groups[topic] = nil
        numbered[Int(group.number)] = nil
        freeNumbers.append(group.number)
        if topic.pairs == nil {
            buckets[topic.bucket]?.index.remove(group.number, under: group.keys)
        }
        for center in topic.query.centers {
            buckets[center.bucket]?.followers[center.id]?.removeAll { $0 == group.number }
            if buckets[center.bucket]?.followers[center.id]?.isEmpty == true {
                buckets[center.bucket]?.followers[center.id] = nil
                queue.follow(center.id, in: center.bucket, false)
            }
        }
        for bucket in topic.buckets {
            buckets[bucket]?.pairs.removeAll { $0 == group.number }
            if buckets[bucket]?.isEmpty == true { buckets[bucket] = nil }
        }
        if groups.isEmpty { rest() }
    }

    /// Lets a group that remembers what belongs to it forget it: its client begins again.
    func restart(
        _ group: WatchGroup, at moment: Moment, _ search: CoupleSearch?
    ) throws(ServiceFailure) {
        guard group.remembersObjects else { return }
        try establish(group, at: moment, continuing: [], search)
    }

    /// Moves a watch from its group to that of another topic.
    ///
    /// - Parameters:
    ///   - search: the couples of the new topic, if it has any.
    ///   - other: a former group of the new topic, to which the watch returns.
    ///   - body: changes the watch at the moment of the move.
    /// - Returns: what it had and what it has at that moment; nil if the watch is gone.
    func move(
        _ session: WatchSession, _ watch: Int, to topic: WatchTopic, _ search: CoupleSearch?,
        placedAs other: WatchGroup? = nil, _ body: (ClientWatch) -> Void
    ) throws(ServiceFailure) -> (old: Basis, new: Basis)? {
        let moment = try present()
        guard let former = session.change(watch, { $0.group }) ?? nil else { return nil }
        let old = basis(of: former, moment)
        guard former.topic != topic else {
            session.change(watch, body)
            return (old, old)
        }
        // A watch that remembers what belongs to it has one group at a time.
        let new = try subscribe(
            session, watch, to: topic, at: moment, search, continuing: old.members,
            placedAs: other)
        unsubscribe(watch, from: former)
        let isThere: Void? = session.change(watch) { client in
            client.join(new.group)
            body(client)
        }
        guard isThere != nil else {
            unsubscribe(watch, from: new.group)
            return nil
        }
        return (old, new)
    }

    /// A group by the number that the index has.
    func group(_ number: UInt32) -> WatchGroup? { numbered[Int(number)] }

    /// The groups with a circle that follows one of the touched objects.
    func followers(
        of touched: Touched, _ places: FollowedPlaces, _ former: Moment, _ next: Moment
    ) -> [WatchGroup] {
        var found: [UInt32: WatchGroup] = [:]
        for (bucket, creations) in touched {
            guard let followers = buckets[bucket]?.followers, !followers.isEmpty else { continue }
            let (old, new) = (former.bucket(bucket), next.bucket(bucket))
            for creation in creations.keys {
                let object = new?.object(created: creation) ?? old?.object(created: creation)
                guard let object else { continue }
                for number in followers[object.id] ?? [] { found[number] = group(number) }
            }
            // An object may have come and gone.
            for id in places.objects(in: bucket) {
                for number in followers[id] ?? [] { found[number] = group(number) }
            }
        }
        return Array(found.values)
    }

    /// Enters a group under its present keys.
    func reindex(_ group: WatchGroup) {
        let keys = group.presentKeys
        guard keys != group.keys, group.topic.pairs == nil else { return }
        buckets[group.topic.bucket]?.index.remove(group.number, under: group.keys)
        group.keys = keys
        buckets[group.topic.bucket]?.index.insert(group.number, under: keys)
    }

    /// Ends a group's watches.
    func end(_ group: WatchGroup, _ failure: ServiceFailure) {
        for (watch, session) in group.subscribers {
            session.fail(watch, failure)
            unsubscribe(watch, from: group)
        }
    }
}
