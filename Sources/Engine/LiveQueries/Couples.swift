import BackendContract

/// Couples of objects within reach, found by either of them.
struct Couples {
    /// Two objects by the changes that created them: the first side's first or, within one bucket,
    /// the older first.
    typealias Couple = WatchSubject

    private var byObject: [ChangeNumber: Set<Couple>] = [:]
    /// The number of couples.
    private(set) var count = 0

    /// Every couple, once.
    var all: [Couple] {
        byObject.flatMap { object, couples in couples.filter { $0.first == object } }.sorted()
    }

    /// The couples of an object.
    func of(_ object: ChangeNumber) -> Set<Couple> { byObject[object] ?? [] }

    /// Whether two objects are a couple.
    func contains(_ couple: Couple) -> Bool { byObject[couple.first]?.contains(couple) == true }

    /// Adds a couple that is not there yet.
    mutating func insert(_ couple: Couple) {
        guard byObject[couple.first, default: []].insert(couple).inserted else { return }
        byObject[couple.second, default: []].insert(couple)
        count += 1
    }

    /// Removes a couple.
    mutating func remove(_ couple: Couple) {
        guard byObject[couple.first]?.remove(couple) != nil else { return }
        byObject[couple.second]?.remove(couple)
        for object in [couple.first, couple.second] where byObject[object]?.isEmpty == true {
            byObject[object] = nil
        }
        count -= 1
    }
}
