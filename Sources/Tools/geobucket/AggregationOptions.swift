import ArgumentParser
import Interchange
import JSONText
import Objects
import QueryLanguage

/// The flags of `query` that ask for figures of the objects instead of the objects.
struct AggregationOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Print the values of this field and how many objects have each.", valueName: "field"))
    var groupBy: String?

    @Option(help: ArgumentHelp("Print the least number of this field.", valueName: "field"))
    var min: [String] = []

    @Option(help: ArgumentHelp("Print the greatest number of this field.", valueName: "field"))
    var max: [String] = []

    @Option(help: ArgumentHelp("Print the sum of this field.", valueName: "field"))
    var sum: [String] = []

    @Option(help: ArgumentHelp("Print the average of this field.", valueName: "field"))
    var avg: [String] = []

    /// Whether there is any of the flags.
    var isEmpty: Bool { groupBy == nil && reductions.isEmpty }

    func validate() throws {
        if groupBy != nil, !reductions.isEmpty {
            throw ValidationError("--group-by and --min, --max, --sum, --avg contradict each other")
        }
    }

    /// - Parameter limit: the most values that objects are grouped by; nil for the usual number.
    func aggregations(limit: Int?) -> [Aggregation] {
        if let groupBy {
            let limit = limit ?? Aggregation.defaultGroupLimit
            return [Aggregation(.group(FieldPath(groupBy), limit: limit), into: Self.name(0))]
        }
        return zip(0..., reductions).map { index, reduction in
            Aggregation(.reduce(FieldPath(reduction.field), reduction.kind), into: Self.name(index))
        }
    }

    /// Prints the results of an answer, a row for each group or figure.
    ///
    /// - Returns: why there is nothing to print; a figure of no objects is nothing.
    func print(_ answer: [UInt8], with writer: inout any ObjectWriter) throws -> Finding {
        var output: [UInt8] = []
        let (rest, finding) = try JSONParser.reading(answer) { view -> (String?, Finding) in
            (try write(view, with: &writer, to: &output), Self.finding(in: view))
        }
        try writer.finish(to: &output)
        try Console.write(output)
        if let rest { Console.error(rest, prefix: "") }
        return finding
    }

    private static func finding(in answer: JSONView) -> Finding {
        let results = answer["aggregations"].map { Array($0.members) } ?? []
        let isEmpty = results.allSatisfy { member in
            member.value.kind == .null || member.value["values"]?.count == 0
        }
        var finding = Finding(isEmpty: isEmpty)
        finding.take(answer)
        return finding
    }

    /// - Returns: what there is besides the rows, in words; nil if nothing.
    private func write(
        _ answer: JSONView, with writer: inout any ObjectWriter, to output: inout [UInt8]
    ) throws -> String? {
        guard let results = answer["aggregations"] else {
            throw CommandFailure("the service did not answer with aggregations")
        }
        guard groupBy == nil else {
            let groups = results["r0"]
            for group in groups?["values"]?.elements ?? results.elements {
                try writer.write(Array(group.text), to: &output)
            }
            return Self.rest(
                other: groups?["other"]?.number?.exactInt ?? 0,
                without: groups?["without"]?.number?.exactInt ?? 0)
        }
        for (reduction, member) in zip(reductions, results.members) {
            var row = JSONWriter()
            row.raw("{\"aggregation\":")
            row.string(reduction.kind.rawValue.lowercased())
            row.key("field")
            row.string(reduction.field)
            row.key("value")
            row.raw(member.value.text)
            row.byte(UInt8(ascii: "}"))
            try writer.write(row.bytes, to: &output)
        }
        return nil
    }

    private static func rest(other: Int, without: Int) -> String? {
        var parts: [String] = []
        if other > 0 { parts.append("\(other) with other values") }
        if without > 0 { parts.append("\(without) without a value") }
        return parts.isEmpty ? nil : "objects not shown: " + parts.joined(separator: ", ")
    }

    private static func name(_ index: Int) -> String { "r\(index)" }

    private var reductions: [(kind: Aggregation.Reduction, field: String)] {
        [(Aggregation.Reduction.minimum, min), (.maximum, max), (.sum, sum), (.average, avg)]
            .flatMap { kind, fields in fields.map { (kind, $0) } }
    }
}
