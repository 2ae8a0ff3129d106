import BackendContract
import Geodesy
import Objects

/// Where objects that circles follow were last, as far as no state tells any more: a place that is
/// written and removed between two states that are compared.
struct FollowedPlaces {
    private var places: [BucketName: [ObjectID: [FieldPath: Coordinate]]] = [:]

    /// Notes the places that a step has written of some objects.
    mutating func note(_ step: any StateStep, of objects: [BucketName: Set<ObjectID>]) {
        for (bucket, ids) in objects {
            step.forEachPlaced(in: bucket) { id, points in
                guard ids.contains(id) else { return }
                // The first of several places counts.
                for point in points.reversed() {
                    places[bucket, default: [:]][id, default: [:]][point.field] = point.coordinate
                }
            }
        }
    }

    /// The last place that an object had at a field path; nil if none was noted.
    func place(of id: ObjectID, at field: FieldPath, in bucket: BucketName) -> Coordinate? {
        places[bucket]?[id]?[field]
    }

    /// The objects of a bucket with noted places.
    func objects(in bucket: BucketName) -> some Collection<ObjectID> {
        (places[bucket] ?? [:]).keys
    }
}
