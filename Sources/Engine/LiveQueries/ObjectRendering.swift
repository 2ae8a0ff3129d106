import JSONText
import Objects
import PersistentStructures
import QueryLanguage

/// How a watch shows an object: as `bucket.query` would, with the same fields and distances.
struct ObjectRendering {
    /// First-level names besides `_id`, in ascending order; nil for the whole object.
    private let fields: [[UInt8]]?
    private let distances: [ReportedDistance]

    /// Every write gives the object another one.
    private static let version = Array(PredefinedField.version.rawValue.utf8)

    init(fields: [[UInt8]]?, distances: [ReportedDistance]) {
        self.fields = fields.map { names in
            names.count < 2 ? names : names.sorted { $0.lexicographicallyPrecedes($1) }
        }
        self.distances = distances
        showsEveryChange = fields?.contains(Self.version) ?? true
    }

    /// Whether every write of an object alters what is shown of it.
    let showsEveryChange: Bool

    /// The object as JSON.
    func render(_ facts: ObjectFacts) throws(ServiceFailure) -> [UInt8] {
        var writer: JSONWriter
        if let fields {
            writer = JSONWriter(reserving: 128)
            writer.raw("{\"_id\":")
            writer.string(facts.object.id.text)
            if !fields.isEmpty { writeMembers(fields, of: try facts.view(), to: &writer) }
        } else {
            let document = try facts.document()
            writer = JSONWriter(reserving: document.count + 64 * distances.count)
            document.withUnsafeBufferPointer {
                writer.raw(UnsafeBufferPointer(rebasing: $0.dropLast()))
            }
        }
        writeDistances(of: facts, to: &writer)
        return writer.bytes
    }

    private func writeMembers(
        _ fields: [[UInt8]], of view: JSONView, to writer: inout JSONWriter
    ) {
        for member in view.members {
            let place = (0..<fields.count).firstPosition {
                fields[$0].lexicographicallyPrecedes(member.name)
            }
            guard place < fields.count, fields[place].elementsEqual(member.name),
                !member.name.elementsEqual("_id".utf8)
            else { continue }
            writer.byte(UInt8(ascii: ","))
            writer.raw(member.text)
        }
    }

    private func writeDistances(of facts: ObjectFacts, to writer: inout JSONWriter) {
        var isFirst = true
        for report in distances {
            guard let distance = report.measure.nearest(facts.points(at: report.field)) else {
                continue
            }
            writer.raw(isFirst ? ",\"_calculated\":{" : ",")
            writer.string(report.name)
            writer.byte(UInt8(ascii: ":"))
            writer.millionths(distance.micrometers)
            isFirst = false
        }
        writer.raw(isFirst ? "}" : "}}")
    }
}
