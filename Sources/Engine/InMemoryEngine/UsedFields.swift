import BackendContract
import Objects

/// The field paths at which objects have GeoPoints, at one state.
public struct UsedFields: Sendable {
    /// The paths.
    public let paths: Set<FieldPath>
    /// The number of the latest change that the state contains.
    public let change: ChangeNumber
}

extension Engine {
    /// The field paths at which the objects of any bucket have GeoPoints now.
    ///
    /// - Parameter change: only buckets that have changed since count; nil for all.
    /// - Complexity: O(buckets and their fields).
    public func usedFields(changedAfter change: ChangeNumber? = nil) -> UsedFields {
        let snapshot = snapshot
        var paths: Set<FieldPath> = []
        for (_, bucketView) in snapshot.buckets where change.map({ bucketView.change > $0 }) ?? true
        {
            paths.formUnion(bucketView.state.fields.keys)
        }
        return UsedFields(paths: paths, change: snapshot.change)
    }
}
