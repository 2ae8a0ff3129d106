import BackendContract
import JSONText
import Objects

extension PutObject {
    /// Takes the predefined fields over that an object has as clients read it.
    ///
    /// - Parameter path: where the object is in the request.
    /// - Throws: `INVALID_INPUT_DATA` for one that no object can have.
    mutating func restore(
        from object: JSONView, at path: String, _ limits: Limits
    ) throws(ServiceFailure) {
        func number(
            _ field: PredefinedField, atLeast least: Int
        ) throws(ServiceFailure) -> Int64? {
            guard let value = object.member(field) else { return nil }
            guard let number = value.number?.exactInt, (least...Self.most).contains(number) else {
                throw ServiceFailure(
                    .invalidInputData, "expected a whole number, \(least) to \(Self.most)",
                    at: "\(path).\(field.rawValue)")
            }
            return Int64(number)
        }
        func text(_ field: PredefinedField) throws(ServiceFailure) -> String? {
            guard let value = object.member(field) else { return nil }
            guard let text = value.string else {
                throw ServiceFailure(
                    .invalidInputData, "expected a string", at: "\(path).\(field.rawValue)")
            }
            return text
        }
        let owner = try text(.owner)
        if let owner, (try? BucketScope("users/" + owner, at: path)) == nil {
            throw ServiceFailure(
                .invalidInputData, "\(quoted(owner)) is no name of a principal",
                at: "\(path)._owner")
        }
        restored = RestoredMetadata(
            created: try number(.created, atLeast: 0), modified: try number(.modified, atLeast: 0),
            version: try number(.version, atLeast: 1), owner: owner)
        dataType = try text(.dataType)
        if let dataType, !(1...limits.dataTypeBytes).contains(dataType.utf8.count) {
            throw ServiceFailure(
                .invalidInputData, "expected 1 to \(limits.dataTypeBytes) bytes",
                at: "\(path)._dataType")
        }
        expires = try number(.expires, atLeast: 0)
    }

    /// 2^53 - 1: numbers up to this are exact in every client.
    private static let most = 9_007_199_254_740_991
}

extension JSONView {
    /// A predefined field; nil if it is missing.
    fileprivate func member(_ field: PredefinedField) -> JSONView? {
        Array(field.rawValue.utf8).withUnsafeBufferPointer { member($0) }
    }
}
