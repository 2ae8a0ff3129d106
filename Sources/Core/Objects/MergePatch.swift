import PlainJSON

/// JSON Merge Patch: objects merge at every level, `null` removes a member, all else replaces.
/// Where nulls are to be stored, `null` replaces too, and nothing is removed.
///
/// - Reference: RFC 7396.
public enum MergePatch {
    /// The text of `target` with `patch` applied. Members of the target keep their order, new ones
    /// follow; the last of duplicate names wins, and reserved first-level names are dropped.
    ///
    /// - Parameters:
    ///   - target: a document as it is stored or read; nil means an empty one.
    ///   - patch: a JSON object whose first-level names have been checked.
    ///   - storingNulls: whether a null is a value like any other.
    public static func apply(
        _ patch: JSONView, to target: JSONView?, storingNulls: Bool = false
    ) -> [UInt8] {
        var merge = Merge(
            storesNulls: storingNulls,
            writer: JSONWriter(reserving: patch.text.count + (target?.text.count ?? 0)))
        merge.merge(patch, into: target, firstLevel: true)
        return merge.writer.bytes
    }

    /// Refuses an invalid patch: anything but an object, and reserved or duplicate names.
    public static func check(_ patch: JSONView, at path: String) throws(ServiceFailure) {
        guard patch.kind == .object else {
            throw ServiceFailure(.invalidInputData, "expected a JSON object", at: path)
        }
        try WrittenName.check(patch, at: path)
    }

    /// A merge under way.
    private struct Merge: ~Copyable {
        let storesNulls: Bool
        var writer: JSONWriter

        mutating func merge(_ patch: JSONView, into target: JSONView?, firstLevel: Bool) {
            let changes = LastMembers(of: patch, userOnly: firstLevel)
            let kept = target.map { LastMembers(of: $0, userOnly: firstLevel) } ?? LastMembers()
            var isFirst = true
            writer.byte(UInt8(ascii: "{"))
            for old in kept.all {
                guard let change = changes[old.name] else {
                    separate(&isFirst)
                    writer.raw(old.text)
                    continue
                }
                if removes(change.value) { continue }
                separate(&isFirst)
                writer.raw(old.nameText)
                write(change.value, into: old.value.kind == .object ? old.value : nil)
            }
            for change in changes.all where kept[change.name] == nil {
                if removes(change.value) { continue }
                separate(&isFirst)
                writer.raw(change.nameText)
                write(change.value, into: nil)
            }
            writer.byte(UInt8(ascii: "}"))
        }

        private func removes(_ change: JSONView) -> Bool { change.kind == .null && !storesNulls }

        private mutating func separate(_ isFirst: inout Bool) {
            if !isFirst { writer.byte(UInt8(ascii: ",")) }
            isFirst = false
        }

        private mutating func write(_ change: JSONView, into target: JSONView?) {
            if change.kind == .object {
                merge(change, into: target, firstLevel: false)
            } else {
                writer.raw(change.text)
            }
        }
    }

    /// The members of an object, each with the last value of its name, in the order of the names.
    private struct LastMembers {
        private(set) var all: [JSONView.Member] = []
        private var names = MemberNames(atMost: 0)

        init() {}

        init(of object: JSONView, userOnly: Bool) {
            all.reserveCapacity(object.count)
            names = MemberNames(atMost: object.count)
            for member in object.members where !userOnly || WrittenName(member.name) == .user {
                let (index, isNew) = names.enter(member.name)
                if isNew { all.append(member) } else { all[index] = member }
            }
        }

        subscript(_ name: UnsafeBufferPointer<UInt8>) -> JSONView.Member? {
            names.index(of: name).map { all[$0] }
        }
    }
}
