import BackendContract
import Objects
import QueryLanguage
import Runtime

/// The answer to `start`.
public struct WatchStart: Sendable {
    /// The name of the watch, unique on its connection.
    public let name: String
    /// Whether the watch goes on from where the client was; nil if it did not ask for that.
    public let resumed: Bool?
}

/// What clients ask of their watches. It may take long.
extension WatchSession {
    /// Checks limits, begins to watch and finds what matches. The watch says nothing before `open`.
    ///
    /// - Throws: `INVALID_INPUT_DATA` if more than `watchObjects` match, `TOO_MANY_REQUESTS` if there
    ///   are too many watches, `TEMPORARY_UNAVAILABLE_ERROR` while the node loads a bucket.
    public func start(
        _ request: WatchRequest, until stop: StopSignal?
    ) throws(ServiceFailure) -> WatchStart {
        try request.check()
        let watch = try add(request, try hub.pin(request.buckets))
        do throws(ServiceFailure) {
            try hub.awaitState()
            let topic = watch.topic
            let shown = try resumption(of: request.resume, for: topic)
            let search = try hub.matcher.search(for: topic, until: stop)
            let basis = try subscribe(watch, to: topic, search)
            // From here on the watch is told if the store is restored.
            let change = shown.flatMap { isPresent($0.history) ? $0.change : nil }
            let beginning = try basis.beginning(
                after: change, limits: hub.limits, hub.matcher, until: stop)
            begin(watch.number, with: beginning, of: basis)
            return WatchStart(
                name: watch.name,
                resumed: request.resume == nil ? nil : change != nil && beginning.goesOn)
        } catch {
            drop(watch.number)
            throw error
        }
    }

    /// The change that the token of an earlier notification names, and the history that contains it;
    /// nil if the token cannot be honoured.
    private func resumption(
        of text: String?, for topic: WatchTopic
    ) throws(ServiceFailure) -> (change: ChangeNumber, history: any StoreHistory)? {
        guard let text else { return nil }
        let matcher = hub.matcher
        let (tokens, history) = try matcher.thread.sync { () throws(ServiceFailure) in
            _ = try matcher.present()
            return (matcher.tokens.withLock { $0 }, matcher.history)
        }
        guard let token = tokens?.codec.decode(text, for: topic.scope),
            let history, history.contains(token.change, of: token.mark), reaches(token.change)
        else { return nil }
        return (token.change, history)
    }

    /// Whether the present state has a change, which another node may have told of. If it does not
    /// have the change when it is the latest, nobody has.
    private func reaches(_ change: ChangeNumber) -> Bool {
        let matcher = hub.matcher
        func isReached() throws(ServiceFailure) -> Bool {
            try matcher.thread.sync { () throws(ServiceFailure) in try matcher.present() }.change
                >= change
        }
        do throws(ServiceFailure) {
            if try isReached() { return true }
            try hub.awaitLatest()
            return try isReached()
        } catch {
            return false
        }
    }

    private func isPresent(_ history: any StoreHistory) -> Bool {
        let matcher = hub.matcher
        return matcher.thread.sync { matcher.history } === history
    }

    private func subscribe(
        _ watch: ClientWatch, to topic: WatchTopic, _ search: CoupleSearch?
    ) throws(ServiceFailure) -> Matcher.Basis {
        let (matcher, number) = (hub.matcher, watch.number)
        let basis = try matcher.thread.sync { () throws(ServiceFailure) in
            let moment = try matcher.present()
            let basis = try matcher.subscribe(self, number, to: topic, at: moment, search)
            if basis.isCenterMissing { receive(number, isCenterMissing: true) }
            return basis
        }
        let isThere: Void? = change(number) { $0.join(basis.group) }
        guard isThere != nil else {
            matcher.thread.sync { matcher.unsubscribe(number, from: basis.group) }
            throw ServiceFailure(.temporarilyUnavailable, "the connection is closed")
        }
        return basis
    }

    private func begin(
        _ number: Int, with beginning: WatchBeginning, of basis: Matcher.Basis
    ) {
        let change = basis.moment.change
        self.change(number) { watch in
            // It may have been lost or ended meanwhile.
            guard case .preparing = watch.stage else { return }
            guard !watch.isOverfull else {
                watch.forget()
                watch.stage = .lost(.slow)
                hub.resyncs.add(1, ordering: .relaxed)
                return
            }
            watch.snapshotScope = basis.group.scope
            switch beginning {
            case .snapshot(let reader, let piece, _):
                watch.stage = .telling
                watch.snapshot = reader
                watch.piece = piece
                watch.snapshotChange = change
            case .difference(let events):
                watch.stage = .live
                var effects = NetEffects()
                for event in events { effects.add(event) }
                effects.add(watch.effects)
                watch.effects = effects
                watch.change = max(watch.change, change)
                watch.mustTell = true
            case .list(let list, let reader, let piece, _):
                watch.stage = .telling
                watch.snapshot = reader
                watch.piece = piece
                watch.snapshotChange = list.change
                watch.toldList = list
                // After a move the list of the other query follows.
                if watch.list == nil, watch.group === basis.group { watch.list = list }
            }
        }
    }

    // MARK: Snapshots

    /// Makes the piece of a snapshot that comes after the one that was taken.
    func makePiece(of snapshot: SnapshotReader, for number: Int) {
        hub.lists.submit(for: owner) { [self] in
            do throws(ServiceFailure) {
                let piece = try snapshot.next(maximumBytes: hub.limits.snapshotBytes)
                change(number) { watch in
                    if watch.snapshot === snapshot { watch.piece = piece }
                }
            } catch {
                fail(number, error)
            }
        }
    }

    /// Finds what a watch begins with that has been lost. One that was lost twice begins again once.
    func beginAgain(_ number: Int) {
        hub.lists.submit(for: owner) { [self] in
            do throws(ServiceFailure) {
                guard change(number, { $0.isAwaiting }) == true, let basis = try restart(number)
                else { return }
                let beginning = try basis.beginning(
                    after: nil, limits: hub.limits, hub.matcher, until: nil)
                begin(number, with: beginning, of: basis)
            } catch {
                fail(number, error)
            }
        }
    }

    /// Lets the events of a watch count from the present moment on.
    ///
    /// - Returns: what it begins with; nil if it is gone.
    private func restart(_ number: Int) throws(ServiceFailure) -> Matcher.Basis? {
        while let group = change(number, { $0.group }) ?? nil {
            if let basis = try restart(number, in: group) { return basis }
        }
        return nil
    }

    /// - Returns: nil if the watch has been moved to another group meanwhile.
    private func restart(
        _ number: Int, in group: WatchGroup
    ) throws(ServiceFailure) -> Matcher.Basis? {
        let matcher = hub.matcher
        let search = try matcher.search(for: group.topic, until: nil)
        return try matcher.thread.sync { () throws(ServiceFailure) in
            guard change(number, { $0.group === group }) == true else { return nil }
            let moment = try matcher.present()
            try matcher.backend.placement?.check(areHeld: group.topic.buckets)
            try matcher.restart(group, at: moment, search)
            change(number) { watch in
                guard watch.isAwaiting else { return }
                watch.stage = .preparing
                // A move that is under way is in the moment already.
                watch.later = nil
            }
            return matcher.basis(of: group, moment)
        }
    }

    // MARK: Moves

    /// Every bucket that a watch reads after a move to a query.
    public func buckets(
        of watch: String, movedTo query: WatchQuery
    ) throws(ServiceFailure) -> [BucketName] {
        var request = try withWatch(watch) { watch, _ in watch.topic.request }
        request.query = query
        return request.buckets
    }

    /// Watches another query under the same name. The difference comes as events after `open`.
    ///
    /// - Returns: the change of the state at which the watch was moved.
    public func move(
        _ name: String, to query: WatchQuery, until stop: StopSignal?
    ) throws(ServiceFailure) -> ChangeNumber {
        var (number, request) = try withWatch(name) { watch, _ in
            (watch.number, watch.topic.request)
        }
        guard request.query.isRanking || !query.isRanking else {
            throw ServiceFailure(
                .invalidInputData, "a watch without a limit stays one; start another watch",
                at: "bestEffortLimit")
        }
        let limit = query.query.limit ?? request.query.query.limit
        request.query = query
        request.query.query.limit = limit
        try request.check()
        let pin = try hub.pin(request.buckets)
        try hub.awaitState()
        let topic = WatchTopic(request, of: number)
        let matcher = hub.matcher
        let search = try matcher.search(for: topic, until: stop)
        let bases = try matcher.thread.sync {
            () throws(ServiceFailure) -> (old: Matcher.Basis, new: Matcher.Basis)? in
            let bases = try matcher.move(self, number, to: topic, search) { watch in
                watch.isOpen = false
                watch.later = NetEffects()
                // Lists of the new query follow.
                watch.list = nil
            }
            if let bases { noteCenter(number, bases) }
            return bases
        }
        guard let (old, new) = bases else {
            throw ServiceFailure(.temporarilyUnavailable, "the watch has ended")
        }
        do throws(ServiceFailure) {
            try tellMove(of: number, from: old, to: new, until: stop)
        } catch {
            // Nothing is known of the new query, so the old one begins again.
            revert(number, to: old)
            throw error
        }
        change(number) { $0.pin = pin }
        return new.moment.change
    }

    /// Lets a watch that was moved tell the difference.
    private func tellMove(
        of number: Int, from old: Matcher.Basis, to new: Matcher.Basis, until stop: StopSignal?
    ) throws(ServiceFailure) {
        if new.group.topic.query.isRanking {
            let list = try new.rankedList(hub.matcher, until: stop)
            change(number) { watch in
                watch.later = nil
                guard watch.isGoingOn else { return }
                if (watch.list.map { $0.change } ?? 0) < list.change { watch.list = list }
                watch.isListMoved = true
                watch.mustTell = true
            }
        } else {
            let events = try new.difference(from: old, limits: hub.limits, until: stop)
            change(number) { watch in
                guard let later = watch.later, watch.isGoingOn else {
                    watch.later = nil
                    return
                }
                watch.later = nil
                for event in events { watch.effects.add(event) }
                watch.effects.add(later)
                watch.mustTell = true
                watch.change = max(watch.change, new.moment.change)
            }
        }
    }

    /// Notes whether the object is there that the centre follows, if a move has changed that.
    private func noteCenter(_ number: Int, _ bases: (old: Matcher.Basis, new: Matcher.Basis)) {
        guard bases.old.isCenterMissing != bases.new.isCenterMissing else { return }
        receive(number, isCenterMissing: bases.new.isCenterMissing)
    }

    private func revert(_ number: Int, to old: Matcher.Basis) {
        let matcher = hub.matcher
        let search: CoupleSearch?
        do throws(ServiceFailure) {
            search = try matcher.search(
                for: old.group.topic, placedAs: old.group, until: nil)
        } catch {
            return failToMove(number, error)
        }
        matcher.thread.sync {
            do throws(ServiceFailure) {
                let bases = try matcher.move(
                    self, number, to: old.group.topic, search, placedAs: old.group
                ) { $0.isOpen = true }
                if let bases { noteCenter(number, bases) }
                resync(number, .slow)
            } catch {
                failToMove(number, error)
            }
        }
    }

    /// Ends a watch whose move has failed. No `open` follows.
    private func failToMove(_ number: Int, _ failure: ServiceFailure) {
        change(number) { $0.isOpen = true }
        fail(number, failure)
    }

    // MARK: Waiting

    /// Calls `ready` once when `next` has returned everything up to the number it gets. Every write
    /// that was answered before is in that number. What happens later is not waited for.
    public func sync(
        _ name: String,
        _ ready: @escaping @Sendable (Result<ChangeNumber, ServiceFailure>) -> Void
    ) {
        let number: Int
        do throws(ServiceFailure) {
            number = try withWatch(name) { watch, _ in watch.number }
        } catch {
            return ready(.failure(error))
        }
        hub.whenPresent { [self] present in
            switch present {
            case .failure(let failure): ready(.failure(failure))
            case .success(let moment):
                let answer: @Sendable () -> Void = { ready(.success(moment.change)) }
                guard let group = change(number, { $0.group }) ?? nil else { return answer() }
                hub.matcher.whenListed(group, moment) { [self] in
                    let isThere: Void? = change(number) { watch in
                        watch.isListUrgent = true
                        watch.isPaused = false
                        watch.waiting.append(answer)
                    }
                    if isThere == nil { answer() }
                }
            }
        }
    }
}
