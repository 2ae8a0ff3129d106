import Geodesy
import SpatialIndex
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

/// The obvious answers, by scanning what lies in a circle or box.
struct Oracle {
    let dataset: Dataset
    let index: PointIndex

    /// Objects that satisfy a query, with distances, in the order asked for; ties anyhow.
    func hits(_ query: PlaceQuery, _ workload: Workload) -> [Hit] {
        switch workload {
        case .q1, .q8: return circle(query)
        case .q2: return Array(circle(query).sorted(by: Self.isNearer).prefix(50))
        case .q3:
            var hits: [Hit] = []
            index.visit(in: query.box) { slot, _ in
                hits.append(Hit(object: Int(slot)))
                return true
            }
            return hits
        case .q4:
            return Array(
                circle(query).filter { matches($0, query) }.sorted(by: Self.isNearer).prefix(20))
        case .q5: return Array(circle(query).sorted(by: Self.isNearer).prefix(10))
        case .q6:
            let hits = (0..<dataset.count).filter { Int(dataset.categories[$0]) == query.category }
            return hits.sorted { dataset.ratings[$0] > dataset.ratings[$1] }.prefix(20)
                .map { Hit(object: $0) }
        case .q7: return circle(query).filter { matches($0, query) }
        }
    }

    /// Puts a peer's answers beside the right ones: to the queries, by their numbers.
    ///
    /// - Parameter countsOnly: whether the answers only tell how many objects there are.
    func judge(
        _ peer: String, _ workload: Workload, _ queries: [PlaceQuery], countsOnly: Bool = false,
        _ answer: (Int) throws -> [Hit]
    ) -> Agreement {
        var agreement = Agreement(workload: workload, peer: peer)
        var both = 0
        var any = 0
        var total = 0
        do {
            for (number, query) in queries.enumerated() {
                let right = hits(query, workload)
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

    private func circle(_ query: PlaceQuery) -> [Hit] {
        var hits: [Hit] = []
        index.visit(within: query.radiusMeters, of: query.center.coordinate) {
            hits.append(Hit(object: Int($0), distance: $1.meters))
            return true
        }
        return hits
    }

    private func matches(_ hit: Hit, _ query: PlaceQuery) -> Bool {
        Int(dataset.categories[hit.object]) == query.category
            && dataset.ratings[hit.object] >= Workload.leastRating
    }

    private static func isNearer(_ a: Hit, _ b: Hit) -> Bool { a.distance! < b.distance! }
}
