import DequeModule
import Foundation

/// Work that several threads do piece by piece, and whose parts one thread takes in the order of the
/// pieces.
///
///     let pieces = OrderedPieces<[Row]>(count: 100)
///     // on each of some threads
///     try pieces.make { piece, add in try read(piece) { rows in try add(rows) } }
///     // on one thread
///     while let rows = try pieces.next() { … }
///
/// A thread that is far ahead of the one that takes the parts waits for it, which bounds the memory.
///
/// `@unchecked Sendable`: the state is used only under the condition's lock.
public final class OrderedPieces<Part: Sendable>: @unchecked Sendable {
    private let count: Int
    private let changed = NSCondition()
    /// The first piece that no thread has begun.
    private var unbegun = 0
    /// The piece whose parts are taken.
    private var current = 0
    private var made: [Int: Piece] = [:]
    private var failure: (any Error)?
    private var isStopped = false

    private struct Piece {
        var parts: Deque<Part> = []
        var isWhole = false
    }

    /// How many pieces after the current one may be begun.
    private static var piecesAhead: Int { 4 }
    /// How many parts of a piece may wait.
    private static var partsAhead: Int { 64 }

    /// - Parameter count: the number of pieces.
    public init(count: Int) { self.count = count }

    /// Makes one piece after the other until all have been begun. Several threads may call it.
    ///
    /// - Parameter make: makes the piece of a number, and hands over its parts in their order.
    /// - Throws: errors of `make`, and `CancellationError` after `stop`.
    public func make(
        _ make: (_ piece: Int, _ add: (Part) throws -> Void) throws -> Void
    ) throws {
        while let piece = begin() {
            try make(piece) { try add($0, to: piece) }
            change { made[piece]!.isWhole = true }
        }
    }

    /// Ends the work of all threads because of an error, which `next` throws unless there was one
    /// before.
    public func fail(_ error: any Error) {
        change {
            failure = failure ?? error
            isStopped = true
        }
    }

    /// The next part; nil after the last one and after `stop`.
    ///
    /// - Throws: the error of `fail`.
    public func next() throws -> Part? {
        changed.lock()
        defer { changed.unlock() }
        while true {
            if let failure { throw failure }
            guard current < count, !isStopped else { return nil }
            if let part = made[current]?.parts.popFirst() {
                changed.broadcast()
                return part
            }
            if made[current]?.isWhole == true {
                made[current] = nil
                current += 1
                changed.broadcast()
            } else {
                changed.wait()
            }
        }
    }

    /// Ends the work early: `make` throws at its next part.
    public func stop() { change { isStopped = true } }

    private func begin() -> Int? {
        changed.lock()
        defer { changed.unlock() }
        while !isStopped, unbegun < count, unbegun > current + Self.piecesAhead { changed.wait() }
        guard !isStopped, unbegun < count else { return nil }
        made[unbegun] = Piece()
        unbegun += 1
        return unbegun - 1
    }

    private func add(_ part: Part, to piece: Int) throws {
        changed.lock()
        defer { changed.unlock() }
        while !isStopped, made[piece]!.parts.count >= Self.partsAhead { changed.wait() }
        guard !isStopped else { throw CancellationError() }
        made[piece]!.parts.append(part)
        changed.broadcast()
    }

    private func change(_ body: () -> Void) {
        changed.lock()
        body()
        changed.broadcast()
        changed.unlock()
    }
}
