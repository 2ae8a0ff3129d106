import JSONText
import Objects
import QueryLanguage

extension FieldPath {
    /// Whether an object's value of this field is greater than another one's, in the order of values;
    /// a missing value and null are less than all others.
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
