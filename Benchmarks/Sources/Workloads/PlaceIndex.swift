import PersistentStructures
import SpatialIndex
import SyntheticData

extension Dataset {
    /// A bare index of the places; slots are the objects' numbers.
    public func index() -> PointIndex {
        PointIndex(bulk: zip(0..., positions).map { (slot: Slot($0), coordinate: $1.coordinate) })
    }
}
