import BackendContract
import JSONText
import Objects
import QueryLanguage

/// What has happened to what a watch shows since its client was told last.
///
/// Nobody knows what the client has. So an object that matches enters, whether the client has it or
/// not, and one that has changed and does not match leaves.
struct Resumption {
    enum Difference {
        case events([WatchEvent])
        /// To tell the state costs less.
        case costly
        /// Some deletions have been forgotten.
        case forgotten
    }

    private let change: ChangeNumber
    private let basis: Matcher.Basis
    private let found: any FoundObjects
    private let matcher: Matcher

    /// So many events cost no more than any state.
    private static let few = 64

    /// - Parameter found: what matches at the moment of the basis.
    init(
        after change: ChangeNumber, _ basis: Matcher.Basis, _ found: any FoundObjects,
        _ matcher: Matcher
    ) {
        (self.change, self.basis, self.found) = (change, basis, found)
        self.matcher = matcher
    }

    func difference() throws(ServiceFailure) -> Difference {
        let (moment, name) = (basis.moment, basis.group.topic.bucket)
        let matches = Set(found.objects.map(\.creation))
        let most = matches.count + Self.few
        guard let history = matcher.thread.sync(matcher.historyNow),
            let deletions = try history.deletions(in: name, after: change, atMost: most + 1)
        else { return .forgotten }
        let bucket = moment.bucket(name)
        let changed = bucket?.objects(changedAfter: change, atMost: most + 1) ?? []
        let expired = bucket?.expired ?? []
        guard deletions.count + changed.count + expired.count <= most else { return .costly }
        var events = deletions.filter { $0.creation <= change && $0.change <= moment.change }
            .map { leave($0.creation, $0.id, .deleted, $0.change) }
        // Those that have expired are there for whoever does not look at the time.
        let all = moment.state.bucket(name, at: .min)
        for creation in expired where creation <= change {
            guard let object = all?.object(created: creation) else { continue }
            events.append(leave(creation, object.id, .expired, moment.change))
        }
        let rendering = ObjectRendering(
            fields: basis.group.topic.fields,
            distances: basis.query?.clause.reportedDistances ?? [])
        let parser = JSONParser()
        for object in changed {
            let isOld = object.creation <= change
            if matches.contains(object.creation) {
                events.append(
                    WatchEvent(
                        subject: WatchSubject(first: object.creation),
                        held: isOld ? .perhaps : .no,
                        outcome: .present(text: try rendering.render(ObjectFacts(object, parser))),
                        change: object.change))
            } else if isOld {
                events.append(leave(object.creation, object.id, .changed, object.change))
            }
        }
        // One notification tells them all.
        let length = events.reduce(0) { $0 + $1.messageBytes }
        return length > matcher.limits.snapshotBytes ? .costly : .events(events)
    }

    private func leave(
        _ creation: ChangeNumber, _ id: ObjectID, _ reason: LeaveReason, _ change: ChangeNumber
    ) -> WatchEvent {
        WatchEvent(
            subject: WatchSubject(first: creation), held: .perhaps,
            outcome: .absent(reason, text: Matcher.quoted(id)), change: change)
    }
}
