import BackendContract
import JSONText
import Objects
import Synchronization

/// A part of a snapshot: objects with commas between them.
struct SnapshotPiece: Sendable {
    let bytes: [UInt8]
    let isLast: Bool
}

/// What a watch begins with, piece by piece.
///
/// `@unchecked Sendable`: one thread at a time asks for the next piece.
final class SnapshotReader: @unchecked Sendable {
    private enum Source {
        case found(any FoundObjects)
        case texts([[UInt8]])
    }

    private let source: Source
    private let count: Int
    private var position = 0

    /// What a query has found.
    init(_ found: any FoundObjects) {
        source = .found(found)
        count = found.objects.count
    }

    /// What has been written already.
    init(_ texts: [[UInt8]]) {
        source = .texts(texts)
        count = texts.count
    }

    /// The next piece. The last one may be empty.
    func next(maximumBytes: Int) throws(ServiceFailure) -> SnapshotPiece {
        var writer = JSONWriter()
        switch source {
        case .found(let found):
            let ends = try found.write(
                position..<count, maximumBytes: maximumBytes, into: &writer)
            position += ends.count
        case .texts(let texts):
            let start = position
            while position < count,
                position == start || writer.count + 1 + texts[position].count <= maximumBytes
            {
                if position > start { writer.byte(UInt8(ascii: ",")) }
                writer.raw(texts[position])
                position += 1
            }
        }
        return SnapshotPiece(bytes: writer.bytes, isLast: position == count)
    }
}
