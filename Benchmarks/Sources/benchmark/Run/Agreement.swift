import Geodesy
import SyntheticData
import Workloads

/// Whether a peer's answers are the right ones.
struct Agreement: Codable {
    var workload: Workload
    var peer: String
    var queries = 0
    /// Objects of one answer, on average.
    var hits = 0.0
    /// Of the objects that peer and oracle found together, the part that both found.
    var common = 1.0
    /// The largest difference of a distance from the oracle's, in metres.
    var worstMeters = 0.0
    /// Why there is no answer.
    var refusal: String?
}

/// The obvious answers, by looking at every object, and how peers' answers compare with them.
///
/// Distances are by other formulas than GeoBucket's. Its index has chosen the radii of the queries,
/// but whether an object lies within one is decided here.
struct Oracle {
    let dataset: Dataset

    /// Objects that satisfy a query, with distances, in the order asked for; ties anyhow.
    func hits(_ query: WorkloadQuery, _ workload: Workload) -> [Hit] {
        switch workload {
        case .q1, .q8: return circle(query)
        case .q2: return nearest(50, of: circle(query))
        case .q3, .q11:
            let box = query.box
            return (0..<dataset.count).filter { object in
                let position = dataset.positions[object].coordinate
                return (box.south...box.north).contains(position.latitude)
                    && (box.west...box.east).contains(position.longitude)
            }.map { Hit(object: $0) }
        case .q4: return nearest(20, of: circle(query).filter { matches($0, query) })
        case .q5: return nearest(10, of: circle(query))
        case .q6:
            let hits = (0..<dataset.count).filter { Int(dataset.categories[$0]) == query.category }
            return hits.sorted { dataset.ratings[$0] > dataset.ratings[$1] }.prefix(20)
                .map { Hit(object: $0) }
        case .q7: return circle(query).filter { matches($0, query) }
        case .q9: return query.corridor.map { nearest(50, of: corridor($0)) } ?? []
        case .q10:
            return circle(query).filter { dataset.ratings[$0.object] >= Workload.leastRating }
                .flatMap { hit in
                    Hit.counted(
                        1, inCategory: Dataset.categoryNames[Int(dataset.categories[hit.object])])
                }
        }
    }

    /// Puts a peer's answers beside the right ones.
    ///
    /// - Parameters:
    ///   - right: the right answers to some queries.
    ///   - countsOnly: whether the peer's answers only tell how many objects there are.
    ///   - answer: the peer's answer to a query, by its number.
    func judge(
        _ peer: String, _ workload: Workload, _ right: [[Hit]], countsOnly: Bool = false,
        _ answer: (Int) throws -> [Hit]
    ) -> Agreement {
        var agreement = Agreement(workload: workload, peer: peer)
        var both = 0
        var any = 0
        var total = 0
        do {
            for (number, right) in right.enumerated() {
                let given = try answer(number)
                total += given.count
                let common =
                    countsOnly || workload == .q7
                    ? min(right.count, given.count)
                    : common(right, given, workload, &agreement.worstMeters)
                both += common
                any += right.count + given.count - common
                agreement.queries += 1
            }
        } catch {
            agreement.refusal = "\(error)"
        }
        agreement.hits = Double(total) / Double(max(1, agreement.queries))
        agreement.common = any == 0 ? 1 : Double(both) / Double(any)
        return agreement
    }

    private func common(
        _ right: [Hit], _ given: [Hit], _ workload: Workload, _ worst: inout Double
    ) -> Int {
        if workload == .q6 {
            // Of many objects with one rating any may come: the ratings have to be right.
            return zip(right, given).count {
                dataset.ratings[$0.object] == dataset.ratings[$1.object]
            }
        }
        if workload == .q10 {
            let (right, given) = (Self.counts(right), Self.counts(given))
            return right.reduce(0) { $0 + min($1.value, given[$1.key, default: 0]) }
        }
        let distances = Dictionary(right.map { ($0.object, $0.distance) }) { first, _ in first }
        var common = 0
        for hit in given {
            guard let distance = distances[hit.object] else { continue }
            common += 1
            if let distance, let other = hit.distance {
                worst = max(worst, abs(distance - other))
            }
        }
        return common
    }

    private func circle(_ query: WorkloadQuery) -> [Hit] {
        let center = Chord.vector(query.center.coordinate)
        // A degree of latitude is more than 111 km: what is farther is not measured.
        let reach = Int32(query.radiusMeters / 111_000 * 1e6) + 1
        return (0..<dataset.count).compactMap { object in
            let position = dataset.positions[object]
            guard abs(position.latitude - query.center.latitude) <= reach else { return nil }
            // No object is within a millimetre of the radius.
            let meters = Chord.meters(center, Chord.vector(position.coordinate))
            return meters <= query.radiusMeters ? Hit(object: object, distance: meters) : nil
        }
    }

    private func corridor(_ corridor: GeoCorridor) -> [Hit] {
        let line = ScannedLine(corridor.line.positions)
        let latitudes = corridor.line.positions.map(\.latitude)
        let reach = corridor.widthMeters / 111_000
        // An arc may rise to the pole's side of both its ends, but those of a corridor are short.
        let (south, north) = (latitudes.min()! - reach - 1, latitudes.max()! + reach + 1)
        return (0..<dataset.count).compactMap { object in
            let position = dataset.positions[object].coordinate
            guard position.latitude >= south, position.latitude <= north else { return nil }
            let meters = line.meters(to: position)
            return meters <= corridor.widthMeters ? Hit(object: object, distance: meters) : nil
        }
    }

    /// How many of the hits have each number.
    private static func counts(_ hits: [Hit]) -> [Int: Int] {
        hits.reduce(into: [:]) { $0[$1.object, default: 0] += 1 }
    }

    private func nearest(_ limit: Int, of hits: [Hit]) -> [Hit] {
        Array(hits.sorted { $0.distance! < $1.distance! }.prefix(limit))
    }

    private func matches(_ hit: Hit, _ query: WorkloadQuery) -> Bool {
        Int(dataset.categories[hit.object]) == query.category
            && dataset.ratings[hit.object] >= Workload.leastRating
    }
}
