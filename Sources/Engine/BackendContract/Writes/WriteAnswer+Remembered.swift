import JSONText
import Objects

/// The format in which stores remember answers: a number of deletions, or `[[id, created, modified,
/// version], …]` with an additional `false` for an object that was not written.
extension WriteAnswer {
    var remembered: [UInt8] {
        var writer = JSONWriter()
        switch self {
        case .deleted(let count): writer.integer(count)
        case .stored(let objects):
            writer.byte(UInt8(ascii: "["))
            writer.list(objects) { object, writer in
                writer.byte(UInt8(ascii: "["))
                let metadata = object.metadata
                writer.string(metadata.id.text)
                for number in [metadata.created, metadata.modified, metadata.version] {
                    writer.byte(UInt8(ascii: ","))
                    writer.integer(number)
                }
                if !object.isWritten { writer.raw(",false") }
                writer.byte(UInt8(ascii: "]"))
            }
            writer.byte(UInt8(ascii: "]"))
        }
        return writer.bytes
    }

    /// - Returns: nil if the text is not a remembered answer.
    init?(remembered text: [UInt8]) {
        let answer = try? JSONParser.reading(text) { view -> WriteAnswer? in
            if let count = view.number?.exactInt { return .deleted(count) }
            guard view.kind == .array else { return nil }
            let objects = view.elements.compactMap(Self.object)
            return objects.count == view.count ? .stored(objects) : nil
        }
        guard let answer else { return nil }
        self = answer
    }

    private static func object(_ view: JSONView) -> WriteResult? {
        let id = view.elements.first { $0.kind == .string }?.string
        let numbers = view.elements.compactMap { $0.number?.exactInt.map(Int64.init) }
        guard let id, numbers.count == 3 else { return nil }
        let metadata = ObjectMetadata(
            id: ObjectID(trusted: id), created: numbers[0], modified: numbers[1],
            version: numbers[2])
        return WriteResult(metadata, isWritten: !view.elements.contains { $0.bool == false })
    }
}
