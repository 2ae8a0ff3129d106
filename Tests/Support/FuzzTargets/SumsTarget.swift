import JSONText
import QueryLanguage

/// Numbers as documents may have them: the figures of them are numbers, and the same in any order.
enum SumsTarget {
    static func run(_ bytes: [UInt8]) {
        let read = try? JSONParser.reading(bytes) { $0.elements.compactMap(\.number) }
        guard let numbers = read else { return }
        let figures = figures(numbers)
        precondition(figures == self.figures(numbers.reversed()))
        for figure in figures {
            guard let figure else { continue }
            let kind = try? JSONParser.reading(figure) { $0.kind }
            precondition(kind != nil && (kind == .null) == numbers.isEmpty)
        }
    }

    /// Every figure as it is written; nil for a sum beyond the range of numbers.
    private static func figures(_ numbers: [JSONNumber]) -> [[UInt8]?] {
        var summary = NumberSummary()
        for number in numbers { summary.add(number) }
        return Aggregation.Reduction.allCases.map { reduction in
            var writer = JSONWriter()
            guard (try? summary.write(reduction, to: &writer)) != nil else { return nil }
            return writer.bytes
        }
    }
}
