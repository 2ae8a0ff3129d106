import Geodesy
import JSONText
import QueryLanguage

/// Writes the end of each object on a page: the distances in `_calculated`, if any, and the closing
/// brace.
struct DistanceReports {
    private let matches: [Execution.Match]
    private var reports: [Report] = []
    /// The labels, each written as a first member begins: `,"_calculated":{"d":`.
    private var labels: [UInt8] = []
    /// The room that the end of an object needs.
    let roomBytes: Int

    private struct Report {
        /// The end of its label.
        let end: Int
        /// Match by match; nil if the matches have it.
        let distances: [Distance?]?
    }

    /// The beginning of every label.
    private static let opening: StaticString = ",\"_calculated\":{"

    init(_ execution: Execution, _ matches: [Execution.Match]) {
        self.matches = matches
        let reported = execution.distances
        var known = reported.count == 1 ? 0 : nil
        if case .distance(let name)? = execution.order.first?.source {
            known = reported.firstIndex { $0.name == name }
        }
        if !reported.isEmpty { reports.reserveCapacity(reported.count) }
        for (number, report) in reported.enumerated() {
            labels += UnsafeBufferPointer(
                start: Self.opening.utf8Start, count: Self.opening.utf8CodeUnitCount)
            labels.append(UInt8(ascii: "\""))
            labels += report.name.utf8
            labels.append(UInt8(ascii: "\""))
            labels.append(UInt8(ascii: ":"))
            let isKnown = number == known && matches.allSatisfy { $0.distance != nil }
            reports.append(
                Report(
                    end: labels.count,
                    distances: isKnown ? nil : Self.distances(report, of: matches, in: execution)))
        }
        roomBytes = labels.count + reports.count * JSONCursor.numberBytes + 2
    }

    private static func distances(
        _ report: ReportedDistance, of matches: [Execution.Match], in execution: Execution
    ) -> [Distance?] {
        guard let index = execution.state.fields[report.field] else {
            return matches.map { _ in nil }
        }
        let perPoint = Int(report.measure.nanoseconds)
        var slots = matches.map(\.slot)
        var distances: [Distance?] = []
        distances.reserveCapacity(slots.count)
        slots.withUnsafeMutableBufferPointer {
            index.forEachPosition(of: $0) {
                let isOver = execution.isOver(before: perPoint)
                distances.append(isOver ? nil : $0.map(report.measure.distance))
            } several: {
                let isOver = execution.isOver(before: perPoint * $0.count)
                distances.append(isOver ? nil : report.measure.nearest($0))
            }
        }
        return distances
    }

    /// Writes the end of a match's object, including the closing brace.
    @inline(__always)
    func writeEnd(of match: Int, to cursor: inout JSONCursor) {
        var (isFirst, start) = (true, 0)
        for report in reports {
            let label = start..<report.end
            start = report.end
            let distance =
                if let distances = report.distances { distances[match] } else {
                    matches[match].distance
                }
            guard let distance else { continue }
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
            cursor.millionths(distance.micrometers)
        }
        cursor.raw(isFirst ? "}" : "}}")
    }
}
