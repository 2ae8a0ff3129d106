import Objects

/// Records of a source that has none but JSON objects, through a mapping that is told.
public final class MappedRecords {
    private let mapper: Mapper

    /// - Parameter mapping: it finds nothing out by itself.
    public init(_ mapping: Mapping, limits: Limits) {
        mapper = Mapper(
            mapping, limits: limits, kind: .any, minifies: false, isStream: false)
    }

    /// One object as a record.
    ///
    /// - Parameter text: the JSON text of an object.
    public func record(_ number: Int, _ text: [UInt8]) -> Record {
        do throws(RecordError) {
            let object = try mapper.object(text)
            return Record(
                number: number, result: .success(object.text), idHash: object.idHash, source: text)
        } catch {
            return Record(number: number, result: .failure(error), source: text)
        }
    }
}
