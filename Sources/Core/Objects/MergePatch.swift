import JSONText

/// JSON Merge Patch: objects merge at every level, `null` removes a member, all else replaces.
///
/// - Reference: RFC 7396.
public enum MergePatch {
    /// The text of `target` with `patch` applied. Members of the target keep their order, new ones
    /// follow; the last of duplicate names wins, and reserved first-level names are dropped.
    ///
    /// - Parameters:
    ///   - target: a document as it is stored or read; nil means an empty one.
    ///   - patch: a JSON object whose first-level names have been checked.
    public static func apply(_ patch: JSONView, to target: JSONView?) -> [UInt8] {
        var writer = JSONWriter(reserving: patch.text.count + (target?.text.count ?? 0))
        merge(patch, into: target, firstLevel: true, &writer)
        return writer.bytes
    }

    /// Refuses an invalid patch: anything but an object, and reserved or duplicate names.
    public static func check(_ patch: JSONView, at path: String) throws(ServiceFailure) {
        guard patch.kind == .object else {
            throw ServiceFailure(.invalidInputData, "expected a JSON object", at: path)
        }
        try WrittenDocument.checkNames(patch, at: path)
    }

    private static func merge(
        _ patch: JSONView, into target: JSONView?, firstLevel: Bool, _ writer: inout JSONWriter
    ) {
        let changes = lastMembers(of: patch, userOnly: firstLevel)
        let kept = target.map { lastMembers(of: $0, userOnly: firstLevel) } ?? LastMembers()
        var first = true
        func separate() {
            if !first { writer.byte(UInt8(ascii: ",")) }
            first = false
        }
        writer.byte(UInt8(ascii: "{"))
        for name in kept.order {
            let old = kept[name]
            guard let change = changes.byName[name] else {
                separate()
                writer.raw(old.text)
                continue
            }
            if change.value.kind == .null { continue }
            separate()
            writer.raw(old.nameText)
            let inner = old.value.kind == .object ? old.value : nil
            value(change.value, into: inner, &writer)
        }
        for name in changes.order where kept.byName[name] == nil {
            let change = changes[name]
            if change.value.kind == .null { continue }
            separate()
            writer.raw(change.nameText)
            value(change.value, into: nil, &writer)
        }
        writer.byte(UInt8(ascii: "}"))
    }

    private static func value(
        _ change: JSONView, into target: JSONView?, _ writer: inout JSONWriter
    ) {
        if change.kind == .object {
            merge(change, into: target, firstLevel: false, &writer)
        } else {
            writer.raw(change.text)
        }
    }

    private struct LastMembers {
        var order: [[UInt8]] = []
        var byName: [[UInt8]: JSONView.Member] = [:]

        subscript(_ name: [UInt8]) -> JSONView.Member { byName[name]! }
    }

    private static func lastMembers(of object: JSONView, userOnly: Bool) -> LastMembers {
        var result = LastMembers()
        for member in object.members where !userOnly || WrittenName(member.name) == .user {
            let name = Array(member.name)
            if result.byName.updateValue(member, forKey: name) == nil { result.order.append(name) }
        }
        return result
    }
}
