import JSONText
import Objects

/// Quotas as tokens files and statistics have them.
extension Quota {
    /// - Throws: `INVALID_INPUT_DATA` for another member, and for a bound that is no number of things.
    init(_ view: JSONView) throws(ServiceFailure) {
        guard view.kind == .object else {
            throw ServiceFailure(.invalidInputData, "expected an object", at: "quota")
        }
        self.init()
        for member in view.members {
            let name = String(decoding: member.name, as: UTF8.self)
            guard let bound = member.value.number?.exactInt, bound >= 0 else {
                throw ServiceFailure(
                    .invalidInputData, "expected a whole number, 0 or more", at: "quota.\(name)")
            }
            switch name {
            case "objects": objects = bound
            case "bytes": bytes = bound
            case "buckets": buckets = bound
            default:
                throw ServiceFailure(
                    .invalidInputData, "\(quoted(name)) is none of objects, bytes and buckets",
                    at: "quota")
            }
        }
    }

    func write(to writer: inout JSONWriter) {
        let bounds = [("objects", objects), ("bytes", bytes), ("buckets", buckets)]
        writer.byte(UInt8(ascii: "{"))
        writer.list(bounds.filter { $0.1 != nil }) { bound, writer in
            writer.string(bound.0)
            writer.byte(UInt8(ascii: ":"))
            writer.integer(bound.1!)
        }
        writer.byte(UInt8(ascii: "}"))
    }
}

extension Quotas {
    /// How many scopes are told.
    private static let told = 10

    /// Appends how often writes were refused, and the scopes that are nearest their quotas.
    func write(to writer: inout JSONWriter) {
        writer.raw("{\"refused\":")
        writer.integer(refused)
        writer.raw(",\"nearest\":[")
        writer.list(nearest(atMost: Self.told)) { near, writer in
            writer.raw("{\"scope\":")
            writer.string(near.scope)
            writer.key("objects")
            writer.integer(near.usage.objects)
            writer.key("bytes")
            writer.integer(near.usage.bytes)
            writer.key("buckets")
            writer.integer(near.usage.buckets)
            writer.key("percent")
            writer.integer(Int(min(near.part * 100, 1e9)))
            writer.byte(UInt8(ascii: "}"))
        }
        writer.raw("]}")
    }
}
