import BackendContract
import Geodesy
import Objects
import PersistentStructures

/// A bucket of a pinned snapshot, as a reader sees it at a time.
final class PinnedBucketView: PinnedBucket {
    private let view: BucketView
    private let time: Int64
    private let snapshot: Snapshot
    private let engine: Engine

    init(_ view: BucketView, at time: Int64, of snapshot: Snapshot, engine: Engine) {
        self.view = view
        self.time = time
        self.snapshot = snapshot
        self.engine = engine
    }

    private func object(at slot: Slot) -> PinnedObject? {
        let record = view.state.records[Int(slot)]
        guard record.isAlive, view.state.expiries[slot] > view.expiredBy ?? .min else { return nil }
        return PinnedObject(
            bucket: self, creation: record.creation, change: record.change, slot: slot)
    }

    func object(created creation: ChangeNumber) -> PinnedObject? {
        view.state.records.slot(created: creation).flatMap(object)
    }

    func object(_ id: ObjectID) -> PinnedObject? { view.slot(of: id).flatMap(object) }

    var expired: [ChangeNumber] {
        guard let expiredBy = view.expiredBy else { return [] }
        var creations: [ChangeNumber] = []
        view.state.expiries.forEach(until: expiredBy) {
            creations.append(view.state.records[Int($0)].creation)
        }
        return creations
    }

    var nextExpiry: Int64? {
        let next = view.state.expiries.next(after: time)
        return next == Expiries.never ? nil : next
    }

    func objects(changedAfter change: ChangeNumber, atMost most: Int) -> [PinnedObject] {
        Array(view.state.slots(changedAfter: change).lazy.compactMap(object).prefix(most))
    }

    func id(of object: PinnedObject) -> ObjectID {
        ObjectID(trusted: String(decoding: view.state.id(of: object.slot), as: UTF8.self))
    }

    func expiry(of object: PinnedObject) -> Int64 { view.state.expiries[object.slot] }

    func points(of object: PinnedObject, at field: FieldPath) -> [Coordinate] {
        view.state.fields[field]?.position(of: object.slot).points ?? []
    }

    func document(of object: PinnedObject) throws(ServiceFailure) -> [UInt8] {
        try engine.document(creation: object.creation, change: object.change, in: snapshot)
    }
}
