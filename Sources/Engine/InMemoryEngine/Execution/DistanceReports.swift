import Geodesy
import JSONText
import QueryLanguage

/// Writes the end of each object on a page: the distances in `_calculated`, if any, and the closing
/// brace.
struct DistanceReports {
    /// The labels, each written as a first member begins: `,"_calculated":{"d":`.
    private var labels: [UInt8] = []
    /// The end of each label in `labels`.
    private var ends: [Int] = []
    /// The distances in micrometres, match by match and by label; negative if there is none.
    private var micrometers: [Int64] = []
    private let matches: Int
    /// The room that the end of an object needs.
    let roomBytes: Int

    /// The beginning of every label.
    private static let opening: StaticString = ",\"_calculated\":{"

    init(_ execution: Execution, _ query: Query, _ matches: [Execution.Match]) {
        let reported = execution.distances
        var known = reported.count == 1 ? 0 : nil
        if case .distance(let name)? = query.order.first?.source {
            known = reported.firstIndex { $0.name == name }
        }
        self.matches = matches.count
        var labels = JSONWriter()
        micrometers.reserveCapacity(matches.count * reported.count)
        for (number, report) in reported.enumerated() {
            labels.raw(Self.opening)
            labels.string(report.name)
            labels.byte(UInt8(ascii: ":"))
            ends.append(labels.count)
            let isKnown = number == known && matches.allSatisfy { $0.distance != nil }
            let distances =
                isKnown ? nil : Self.distances(report, of: matches, in: execution)
            for position in matches.indices {
                let distance = distances.map { $0[position] } ?? matches[position].distance
                micrometers.append(distance?.micrometers ?? -1)
            }
        }
        self.labels = labels.bytes
        roomBytes = labels.count + ends.count * JSONCursor.numberBytes + 2
    }

    private static func distances(
        _ report: ReportedDistance, of matches: [Execution.Match], in execution: Execution
    ) -> [Distance?] {
        guard let index = execution.bucketView.state.fields[report.field] else {
            return matches.map { _ in nil }
        }
        var slots = matches.map(\.slot)
        var distances: [Distance?] = []
        distances.reserveCapacity(slots.count)
        slots.withUnsafeMutableBufferPointer {
            index.forEachPosition(of: $0) {
                distances.append(execution.isOver ? nil : $0.map(report.measure.distance))
            } several: {
                distances.append(execution.isOver ? nil : report.measure.nearest($0))
            }
        }
        return distances
    }

    /// Writes the end of a match's object, including the closing brace.
    @inline(__always)
    func writeEnd(of match: Int, to cursor: inout JSONCursor) {
        var (isFirst, start) = (true, 0)
        for number in 0..<ends.count {
            let micrometers = micrometers[number * matches + match]
            let label = start..<ends[number]
            start = label.upperBound
            guard micrometers >= 0 else { continue }
            labels.withUnsafeBufferPointer { labels in
                // A label that is not the first is reduced to a comma and the name.
                var text = UnsafeBufferPointer(rebasing: labels[label])
                if !isFirst {
                    cursor.byte(UInt8(ascii: ","))
                    text = UnsafeBufferPointer(
                        rebasing: text.dropFirst(Self.opening.utf8CodeUnitCount))
                }
                cursor.raw(text)
            }
            isFirst = false
            cursor.millionths(micrometers)
        }
        cursor.raw(isFirst ? "}" : "}}")
    }
}
