import Backend
import JSONText
import Objects

/// One side of a comparison: what belongs to a watch at a moment, and how it is shown.
struct DifferenceSide {
    let moment: Moment
    let members: Set<ChangeNumber>
    let rendering: ObjectRendering

    init(_ moment: Moment, _ members: Set<ChangeNumber>, _ rendering: ObjectRendering) {
        self.moment = moment
        self.members = members
        self.rendering = rendering
    }
}

/// The events that lead from one side to the other.
///
/// - Parameter departure: why an object has left, and by which change, if it was one; it gets the
///   object as it was.
func setDifference(
    _ old: DifferenceSide, _ new: DifferenceSide, in name: BucketName,
    _ departure: (HeldObject) -> (LeaveReason, ChangeNumber?)
) throws(ServiceFailure) -> [WatchEvent] {
    let (oldParser, newParser) = (JSONParser(), JSONParser())
    let (oldBucket, newBucket) = (old.moment.bucket(name), new.moment.bucket(name))
    var events: [WatchEvent] = []
    for creation in old.members.subtracting(new.members) {
        guard let object = oldBucket?.object(created: creation) else { continue }
        let (reason, change) = departure(object)
        events.append(
            WatchEvent(
                subject: WatchSubject(first: creation), held: .yes,
                outcome: .absent(reason, text: Matcher.quoted(object.id)), change: change))
    }
    for creation in new.members {
        guard let object = newBucket?.object(created: creation) else { continue }
        let text = try new.rendering.render(ObjectFacts(object, newParser))
        let belonged = old.members.contains(creation)
        if belonged, let former = oldBucket?.object(created: creation),
            try old.rendering.render(ObjectFacts(former, oldParser)) == text
        {
            continue
        }
        events.append(
            WatchEvent(
                subject: WatchSubject(first: creation), held: belonged ? .yes : .no,
                outcome: .present(text: text), change: object.change))
    }
    return events
}
