import BackendContract
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

/// The events that lead from one side to the other. They say what was shown before: a watch that moves
/// away and back shows the same objects, although nobody has written them.
///
/// - Parameter departure: why an object has left, and by which change, if it was one; it gets the
///   object as it was.
func setDifference(
    _ old: DifferenceSide, _ new: DifferenceSide, in name: BucketName,
    _ departure: (PinnedObject) -> (LeaveReason, ChangeNumber?)
) throws(ServiceFailure) -> [WatchEvent] {
    let (oldParser, newParser) = (JSONParser(), JSONParser())
    let (oldBucket, newBucket) = (old.moment.bucket(name), new.moment.bucket(name))
    var events: [WatchEvent] = []
    func formerText(_ object: PinnedObject) throws(ServiceFailure) -> [UInt8] {
        try old.rendering.render(ObjectFacts(object, oldParser))
    }
    for creation in old.members.subtracting(new.members) {
        guard let object = oldBucket?.object(created: creation) else { continue }
        let (reason, change) = departure(object)
        events.append(
            WatchEvent(
                subject: WatchSubject(first: creation), held: .yes,
                outcome: .absent(reason, text: Matcher.quoted(object.id)), change: change,
                shown: try formerText(object)))
    }
    for creation in new.members {
        guard let object = newBucket?.object(created: creation) else { continue }
        let belonged = old.members.contains(creation)
        let former = belonged ? oldBucket?.object(created: creation) : nil
        let event = WatchEvent(
            subject: WatchSubject(first: creation), held: belonged ? .yes : .no,
            outcome: .present(text: try new.rendering.render(ObjectFacts(object, newParser))),
            change: object.change, shown: try former.map(formerText))
        if !event.altersNothing { events.append(event) }
    }
    return events
}
