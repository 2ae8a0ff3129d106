import BackendContract
import JSONText
import Objects
import Runtime

/// What the connection fetches.
extension WatchSession {
    /// Appends the next notification as one JSON-RPC message, without a line break.
    ///
    /// - Returns: false if there is none now.
    public func next(into writer: inout JSONWriter) -> Bool {
        // The matcher changes the tokens last when the store has been restored: what is from before
        // never gets a token of the new history.
        let tokens = hub.matcher.tokens.withLock { $0 }
        // What has been delivered may go beyond this, never the other way round.
        let matched = hub.matcher.matched.load(ordering: .acquiring)
        let now = hub.clock.nanoseconds()
        while true {
            var follow: (@Sendable () -> Void)?
            var consequences = Consequences()
            let notification = state.withLock { state -> WatchNotification? in
                guard let item = state.queue.popFirst() else {
                    state.isAwake = false
                    return nil
                }
                let number: Int
                switch item {
                case .news(let of): number = of
                case .mark(let of, let ready):
                    reach(of, ready, &state, &consequences)
                    return .some(.none)
                }
                guard let watch = state.watches[number] else { return .some(.none) }
                watch.isQueued = false
                let notification = state.counting(watch) {
                    take(from: watch, matched, now, &follow)
                }
                if case .end = notification { remove(watch, &state) }
                enqueue(watch, &state, &consequences)
                return notification
            }
            // The connection is awake: it is calling.
            for body in consequences.ready { body() }
            follow?()
            guard let notification else { return false }
            if case .none = notification { continue }
            notification.write(to: &writer, tokens)
            return true
        }
    }

    /// What stood before a mark has been told. A watch that has been lost since has more to tell.
    private func reach(
        _ number: Int, _ ready: @escaping @Sendable () -> Void, _ state: inout State,
        _ consequences: inout Consequences
    ) {
        if let watch = state.watches[number], !watch.isComplete {
            watch.waiting.append(ready)
        } else {
            consequences.ready.append(ready)
        }
    }

    /// Takes the next notification of a watch.
    ///
    /// - Parameter follow: what has to be begun after that.
    private func take(
        from watch: ClientWatch, _ matched: ChangeNumber, _ now: Int64,
        _ follow: inout (@Sendable () -> Void)?
    ) -> WatchNotification {
        guard watch.hasNews else { return .none }
        if case .ended(let failure) = watch.stage { return .end(watch.name, failure) }
        let number = watch.number
        guard let group = watch.group, !pauses(watch, group, now, &follow) else { return .none }
        watch.told = now
        switch watch.stage {
        case .preparing, .awaiting, .ended: return .none
        case .lost(let reason):
            watch.stage = .awaiting
            follow = { [self] in beginAgain(number) }
            return .resync(watch.name, reason)
        case .telling:
            guard let piece = watch.piece else { return .none }
            watch.piece = nil
            if piece.isLast {
                watch.snapshot = nil
                watch.stage = .live
            } else if let snapshot = watch.snapshot {
                follow = { [self] in makePiece(of: snapshot, for: number) }
            }
            return .snapshot(watch.name, piece, watch.snapshotChange, watch.snapshotScope)
        case .live:
            return takeEvents(from: watch, group, matched, now, &follow)
        }
    }

    /// Whether a ranking has to wait until its interval is over.
    private func pauses(
        _ watch: ClientWatch, _ group: WatchGroup, _ now: Int64,
        _ follow: inout (@Sendable () -> Void)?
    ) -> Bool {
        guard case .live = watch.stage, !watch.mustTell, !watch.isListUrgent else { return false }
        let wait = watch.told + Int64(group.topic.interval) * 1_000_000 - now
        guard group.topic.interval > 0, wait > 0 else { return false }
        watch.isPaused = true
        let number = watch.number
        follow = { [self] in
            hub.matcher.thread.async(after: .nanoseconds(wait)) { [weak self] in
                self?.change(number) { $0.isPaused = false }
            }
        }
        return true
    }

    private func takeEvents(
        from watch: ClientWatch, _ group: WatchGroup, _ matched: ChangeNumber, _ now: Int64,
        _ follow: inout (@Sendable () -> Void)?
    ) -> WatchNotification {
        var told = Told(
            name: watch.name, change: max(watch.change, matched), scope: group.scope,
            isCenterMissing: watch.isCenterMissing)
        watch.mustTell = false
        watch.isCenterMissing = nil
        if let list = watch.list, let toldList = watch.toldList {
            told.change = list.change
            told.ranked = toldList.steps(to: list)
            told.departures = watch.departures
            told.isMoved = watch.isListMoved
            watch.toldList = list
            watch.departures = [:]
            watch.isListMoved = false
            watch.isListUrgent = false
        } else {
            told.events = watch.effects.take()
            told.isOfPairs = group.topic.pairs != nil
        }
        hub.eventsSent.add(told.count, ordering: .relaxed)
        return .events(told)
    }
}
