import Backend
import Geodesy
import Objects
import PersistentStructures

/// A bucket of a held snapshot, as a reader sees it at a time.
final class HeldBucketView: HeldBucket {
    private let view: BucketView
    private let time: Int64
    private let snapshot: Snapshot
    private let engine: InMemoryEngine

    init(_ view: BucketView, at time: Int64, of snapshot: Snapshot, engine: InMemoryEngine) {
        self.view = view
        self.time = time
        self.snapshot = snapshot
        self.engine = engine
    }

    private func object(at slot: Slot) -> HeldObject? {
        let record = view.state.records[Int(slot)]
        guard record.isAlive, view.state.expiries[slot] > view.expiredBy ?? .min else { return nil }
        return HeldObject(
            bucket: self, creation: record.creation, change: record.change, slot: slot)
    }

    func object(created creation: ChangeNumber) -> HeldObject? {
        view.state.records.slot(created: creation).flatMap(object)
    }

    func object(_ id: ObjectID) -> HeldObject? { view.slot(of: id).flatMap(object) }

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

    func objects(changedAfter change: ChangeNumber) -> [HeldObject] {
        var found: [HeldObject] = []
        for (slot, record) in view.state.records.enumerated() where record.change > change {
            if let object = object(at: Slot(slot)) { found.append(object) }
        }
        return found
    }

    func id(of object: HeldObject) -> ObjectID {
        ObjectID(trusted: String(decoding: view.state.id(of: object.slot), as: UTF8.self))
    }

    func expiry(of object: HeldObject) -> Int64 { view.state.expiries[object.slot] }

    func points(of object: HeldObject, at field: FieldPath) -> [Coordinate] {
        view.state.fields[field]?.position(of: object.slot).points ?? []
    }

    func document(of object: HeldObject) throws(ServiceFailure) -> [UInt8] {
        try engine.document(creation: object.creation, change: object.change, in: snapshot)
    }
}
