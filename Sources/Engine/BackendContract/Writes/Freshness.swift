import JSONText
import Objects
import QueryLanguage

extension FieldPath {
    /// Whether an object has a greater value of this field than another object, in the order of
    /// values. A missing value and null are less than all others.
    func isGreater(in object: JSONView, than other: JSONView) -> Bool {
        sortKey(in: other) < sortKey(in: object)
    }

    private func sortKey(in object: JSONView) -> SortKey {
        var key = SortKey()
        if let value = value(in: object), value.kind != .null {
            key.append(SortValue(value), descending: false)
        }
        return key
    }
}
