import Foundation
import Runtime
import Synchronization
import TestSupport
import Testing

@Suite struct OrderedPiecesTests {
    private struct Fault: Error {}

    /// Makes pieces on some threads; a piece's parts are its number and theirs.
    private func start(
        _ pieces: OrderedPieces<[Int]>, threads: Int, parts: @escaping @Sendable (Int) -> Int
    ) -> [WorkThread] {
        (0..<threads).map { number in
            let thread = WorkThread("maker \(number)")
            thread.async {
                do {
                    try pieces.make { piece, add in
                        for part in 0..<parts(piece) { try add([piece, part]) }
                    }
                } catch {
                    pieces.fail(error)
                }
            }
            return thread
        }
    }

    @Test(arguments: [1, 2, 5])
    func `parts come in the order of the pieces, whoever made them`(threads: Int) throws {
        for seed in UInt64(1)...20 {
            var random = SplitMix64(seed: seed)
            let sizes = (0..<random.below(60)).map { _ in
                random.below(4) == 0 ? 0 : random.below(200)
            }
            let pieces = OrderedPieces<[Int]>(count: sizes.count)
            let makers = start(pieces, threads: threads) { sizes[$0] }
            var taken: [[Int]] = []
            while let part = try pieces.next() { taken.append(part) }
            let expected = sizes.enumerated().flatMap { piece, size in
                (0..<size).map { [piece, $0] }
            }
            #expect(taken == expected, "seed \(seed)")
            for maker in makers { maker.drain() }
        }
    }

    @Test func `threads wait for the one that takes the parts`() throws {
        let begun = Mutex(0)
        let pieces = OrderedPieces<[Int]>(count: 1_000)
        let makers = start(pieces, threads: 3) { piece in
            begun.withLock { $0 = max($0, piece) }
            return 10
        }
        for number in 0..<500 * 10 {
            #expect(try pieces.next() == [number / 10, number % 10])
            // The piece that is being taken, and a few more.
            #expect(begun.withLock { $0 } < number / 10 + 10)
        }
        pieces.stop()
        for maker in makers { maker.drain() }
    }

    @Test func `an error of a thread reaches the one that takes the parts`() {
        let pieces = OrderedPieces<[Int]>(count: 1_000)
        let makers = start(pieces, threads: 2) { _ in 1 }
        pieces.fail(Fault())
        #expect(throws: Fault.self) { while try pieces.next() != nil {} }
        for maker in makers { maker.drain() }
    }
}
