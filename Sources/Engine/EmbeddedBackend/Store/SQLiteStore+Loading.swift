import BackendContract
import Foundation
import GRDB
import Objects
import Runtime

extension SQLiteStore {
    /// Delivers the part of every object that an engine needs, in batches in the order of creation,
    /// while other threads read the next ones. Nobody may write meanwhile.
    ///
    /// - Parameters:
    ///   - scan: a scan of the state that is read.
    ///   - size: how many changes may have created what a thread reads at a time. There are at most
    ///     4,096 such pieces.
    public func forEachObject(
        of scan: StoreScan, inPiecesOf size: Int64 = 65_536,
        _ body: (LoadedObjects) throws -> Void
    ) throws {
        let split = SplitCreations(last: Int64(clamping: try scan.lastChange()), size: size)
        guard split.count > 1 else { return try scan.forEachObject(body) }
        let pieces = OrderedPieces<PartOfPiece>(count: split.count)
        let names = scan.names
        let readers = (0..<Self.readers).map { WorkThread("load \($0)") }
        for reader in readers {
            reader.async { [pool] in
                do {
                    try pool.read { try StoreScan($0, names).make(pieces, of: split) }
                } catch {
                    pieces.fail(error)
                }
            }
        }
        defer {
            pieces.stop()
            for reader in readers { reader.drain() }
        }
        var before: StoreScan.Ends?
        while let part = try pieces.next() {
            switch part {
            case .objects(let objects): try body(objects)
            case .ends(let ends):
                if let before, !ends.follow(before) {
                    throw StoreFailure.damaged("its rows are not in order")
                }
                before = ends
            }
        }
    }

    /// Two threads read about as fast as one applies what they have read.
    private static var readers: Int { min(3, ProcessInfo.processInfo.activeProcessorCount) }
}

private enum PartOfPiece: Sendable {
    case objects(LoadedObjects)
    /// The last part.
    case ends(StoreScan.Ends)
}

extension StoreScan {
    fileprivate func make(
        _ pieces: OrderedPieces<PartOfPiece>, of split: SplitCreations
    ) throws {
        try withMappedPages {
            try pieces.make { piece, add in
                try add(.ends(forEachObject(in: split[piece]) { try add(.objects($0)) }))
            }
        }
    }
}

/// All numbers of changes in successive ranges, each of which may have created objects.
private struct SplitCreations {
    private let last: Int64
    private let size: Int64

    /// The most ranges. Each costs a search in the table.
    private static let most: Int64 = 4_096

    /// - Parameters:
    ///   - last: the number of the last change.
    ///   - size: the fewest numbers in a range.
    init(last: Int64, size: Int64) {
        self.last = last
        self.size = max(size, last / Self.most + 1)
    }

    var count: Int { Int(last / size) + 1 }

    /// The first range and the last one have no other ends, so that numbers that cannot be are read
    /// too, and found to be damaged.
    subscript(number: Int) -> ClosedRange<Int64> {
        let first = Int64(number) * size
        return (number == 0 ? .min : first)...(number == count - 1 ? .max : first + size - 1)
    }
}
