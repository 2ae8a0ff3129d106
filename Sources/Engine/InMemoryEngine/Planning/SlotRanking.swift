import Geodesy
import Objects
import PersistentStructures
import QueryLanguage
import SpatialIndex

/// A slot with a 64-bit rank. A smaller rank is earlier; equal ranks need a closer comparison.
struct Ranked: BitwiseCopyable, Sendable {
    var key: UInt64
    var slot: Slot
}

extension Ranked {
    /// Ranks a point by its distance.
    init(_ point: MeasuredPoint) {
        self.init(key: UInt64(point.distance.micrometers), slot: point.slot)
    }
}

/// An order of slots whose values are all in memory, in columns and points.
///
/// Without parts it is the order of creation.
struct SlotRanking: Sendable {
    let parts: [Part]
    /// Whether equal keys always mean equal values. This needs an order with at most one part.
    private let keyIsExact: Bool
    /// What a comparison of two slots with equal keys takes, by estimate.
    let comparisonNanoseconds: Int

    enum Part: Sendable {
        case column(Column, descending: Bool)
        /// The index is nil if no object has the field.
        case distance(GeoMeasure, PointIndex?, descending: Bool)
    }

    /// The place in the order that a page key names.
    struct Bound: Sendable {
        let values: [SortValue]
        /// Among slots with equal values, those from here on come after the bound.
        let slot: Int
    }

    private init(parts: [Part]) {
        self.parts = parts
        comparisonNanoseconds = parts.reduce(20) { $0 + $1.comparisonNanoseconds }
        keyIsExact =
            switch parts.first {
            case nil, .distance: parts.count <= 1
            case .column(let column, _): parts.count == 1 && column.leadingIsExact
            }
    }

    /// Whether the keys are distances in micrometres.
    var isByDistance: Bool {
        if case .distance(_, _, descending: false) = parts.first { true } else { false }
    }

    func rank(_ slot: Slot) -> Ranked {
        switch parts.first {
        case nil: Ranked(key: 0, slot: slot)
        case .column(let column, let descending):
            Ranked(key: Self.key(column.leading(column.cell(of: slot)), descending), slot: slot)
        case .distance(let measure, let index, let descending):
            Ranked(key: Self.key(Self.distance(measure, index, slot), descending), slot: slot)
        }
    }

    /// Calls `body` with the rank of each slot, in the order of the slots.
    func forEachRanked(_ slots: Slots, _ body: (Ranked) -> Void) {
        guard case .distance(let measure, let index?, let descending)? = parts.first else {
            for slot in slots { body(rank(slot)) }
            return
        }
        var offset = 0
        func report(_ distance: Distance?) {
            body(Ranked(key: Self.key(distance, descending), slot: slots[offset]))
            offset += 1
        }
        index.forEachPosition(of: slots) {
            report($0.map { measure.distance(to: $0) })
        } several: {
            report(measure.nearest($0))
        }
    }

    func precedes(_ a: Ranked, _ b: Ranked) -> Bool {
        if a.key != b.key { return a.key < b.key }
        if !keyIsExact {
            for part in parts {
                let order = Self.order(part, a.slot, b.slot)
                if order != 0 { return order < 0 }
            }
        }
        return a.slot < b.slot
    }

    /// - Parameter precedes: the order of two matches, as the function of that name tells it.
    func sort(_ matches: inout [Ranked], by precedes: (Ranked, Ranked) -> Bool) {
        if parts.isEmpty {
            matches.withUnsafeMutableBufferPointer {
                $0.radixSort(digitBits: 7) { UInt64($0.slot) }
            }
        } else if keyIsExact {
            matches.sort { $0.key != $1.key ? $0.key < $1.key : $0.slot < $1.slot }
        } else {
            matches.sort(by: precedes)
        }
    }

    /// Whether a slot comes after a place in the order.
    func isAfter(_ ranked: Ranked, _ bound: Bound) -> Bool {
        for (part, value) in zip(parts, bound.values) {
            let order = Self.order(part, ranked.slot, value)
            if order != 0 { return order > 0 }
        }
        return Int(ranked.slot) >= bound.slot
    }

    /// The sort values that a page key stores for a slot.
    func values(of slot: Slot) -> [SortValue] {
        parts.map { part in
            switch part {
            case .column(let column, _): column.sortValue(column.cell(of: slot))
            case .distance(let measure, let index, _):
                SortValue(Self.distance(measure, index, slot))
            }
        }
    }

    // MARK: One part

    private static func distance(
        _ measure: GeoMeasure, _ index: PointIndex?, _ slot: Slot
    ) -> Distance? {
        index?.position(of: slot).distance(by: measure)
    }

    /// Missing values come last in both directions.
    private static func key(_ leading: UInt64, _ descending: Bool) -> UInt64 {
        descending && leading != Cell.missing.bits ? ~leading : leading
    }

    private static func key(_ distance: Distance?, _ descending: Bool) -> UInt64 {
        guard let distance else { return .max }
        let micrometers = UInt64(distance.micrometers)
        return descending ? .max - 1 - micrometers : micrometers
    }

    private static func order(_ part: Part, _ a: Slot, _ b: Slot) -> Int {
        switch part {
        case .column(let column, let descending):
            let (a, b) = (column.cell(of: a), column.cell(of: b))
            let isMissing = a == .missing || b == .missing
            return descending && !isMissing ? column.order(b, a) : column.order(a, b)
        case .distance(let measure, let index, let descending):
            let a = key(distance(measure, index, a), descending)
            let b = key(distance(measure, index, b), descending)
            return a < b ? -1 : (a == b ? 0 : 1)
        }
    }

    private static func order(_ part: Part, _ slot: Slot, _ value: SortValue) -> Int {
        switch part {
        case .column(let column, let descending):
            let cell = column.cell(of: slot)
            let order = column.order(cell, value)
            return descending && cell != .missing && value != .missing ? -order : order
        case .distance(let measure, let index, let descending):
            var other: Distance?
            if case .distance(let distance) = value { other = distance }
            let a = key(distance(measure, index, slot), descending)
            let b = key(other, descending)
            return a < b ? -1 : (a == b ? 0 : 1)
        }
    }
}

extension SlotRanking.Part {
    fileprivate var comparisonNanoseconds: Int {
        switch self {
        case .column(let column, _): 20 + column.averageBytes / 8
        case .distance(let measure, let index, _):
            Int(2 * measure.nanoseconds * (index?.pointsPerSlot ?? 0))
        }
    }
}

extension SlotRanking {
    /// The ranking of an order by distances that some clauses report and by fields; nil if one of the
    /// fields has no column.
    init?(
        _ order: [OrderKey], _ distances: [ReportedDistance], on fields: inout QueriedFields
    ) {
        var parts: [Part] = []
        for key in order {
            switch key.source {
            case .field(let field):
                if let column = fields.column(field) {
                    parts.append(.column(column, descending: key.descending))
                }
            case .distance(let name):
                guard let report = distances.first(where: { $0.name == name })
                else { preconditionFailure("an order by a distance that no clause reports") }
                parts.append(
                    .distance(
                        report.measure, fields.lookUp(report.field), descending: key.descending))
            }
        }
        guard parts.count == order.count else { return nil }
        self.init(parts: parts)
    }
}
