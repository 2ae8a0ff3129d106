// What tests look answers up in and build documents from.
@_exported import enum JSONText.JSONValue

extension JSONValue {
    /// The value as the service sees it: a number of many digits is the nearest binary64.
    var nearest: JSONValue { number.map { .number($0) } ?? self }
}
