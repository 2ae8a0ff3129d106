import BackendContract
import JSONText
import TestSupport
import Testing

@testable import InMemoryEngine

@Suite struct DocumentTableTests {
    /// The text of a document in memory that a table may take.
    private func document(_ text: String) -> DocumentCache.Document {
        var writer = JSONWriter(reserving: text.utf8.count)
        writer.raw(Array(text.utf8))
        return DocumentCache.Document(writer.release())
    }

    private func text(_ found: DocumentCache.Document?) -> String? {
        found.map { String(decoding: $0, as: UTF8.self) }
    }

    @Test func `a table whose documents are gone gives their cells back`() {
        var table = DocumentTable(capacityBytes: 10 << 20)
        let documents = ChangeNumber(10_000)
        for creation in 1...documents {
            let isTaken = table.take(document("\(creation)"), creation, creation)
            #expect(isTaken)
        }
        let most = table.cellCount
        #expect(most > Int(documents))
        for creation in 1...documents - 10 { table.remove(creation) }
        #expect(table.cellCount < most / 64)
        for creation in documents - 9...documents {
            #expect(text(table.find(creation, creation)) == "\(creation)")
        }
        for creation in documents - 9...documents { table.remove(creation) }
        #expect(table.cellCount == DocumentTable.fewestCells && table.bytes == 0)
    }

    @Test func `long documents that take the place of many short ones need fewer cells`() {
        var table = DocumentTable(capacityBytes: 1 << 20)
        for creation in ChangeNumber(1)...10_000 { _ = table.take(document("short"), creation, 1) }
        let most = table.cellCount
        let long = String(repeating: "x", count: 20_000)
        for creation in ChangeNumber(20_001)...21_000 {
            _ = table.take(document(long), creation, 1)
        }
        #expect(table.cellCount < most / 16 && table.bytes <= 1 << 20)
        #expect(text(table.find(21_000, 1)) == long)
    }

    @Test func `searches stay short while documents are evicted`() {
        // Among these lengths are some with which the cells are three quarters full.
        for length in stride(from: 8, through: 320, by: 39) {
            var table = DocumentTable(capacityBytes: 4 << 20)
            let text = String(repeating: "x", count: length)
            for creation in ChangeNumber(1)...100_000 {
                _ = table.take(document(text), creation * 16, 1)
            }
            #expect(table.longestRun < 128, "of \(table.cellCount) cells, \(length) bytes")
        }
    }

    @Test func `documents that are read stay while others come and go`() {
        var table = DocumentTable(capacityBytes: 1 << 20)
        let wanted = ChangeNumber(1)...500
        for creation in wanted { _ = table.take(document("\(creation)"), creation, 1) }
        for creation in ChangeNumber(1_000)...60_000 {
            _ = table.take(document("\(creation)"), creation, 1)
            if creation % 100 == 0 { for creation in wanted { _ = table.find(creation, 1) } }
        }
        for creation in wanted { #expect(text(table.find(creation, 1)) == "\(creation)") }
    }

    @Test func `of documents that were all read some make room`() {
        var table = DocumentTable(capacityBytes: 1 << 20)
        for creation in ChangeNumber(1)...20_000 {
            _ = table.take(document("\(creation)"), creation, 1)
            if creation % 2_000 == 0 {
                for number in 1...creation { _ = table.find(number, 1) }
            }
            #expect(table.bytes <= 1 << 20)
            #expect(text(table.find(creation, 1)) == "\(creation)")
        }
    }

    @Test func `a table that grows and shrinks finds what a dictionary does`() {
        for seed in UInt64(1)...3 {
            var random = SplitMix64(seed: seed)
            var table = DocumentTable(capacityBytes: 1 << 30)
            var model: [ChangeNumber: ChangeNumber] = [:]
            for step in ChangeNumber(1)...20_000 {
                let creation = ChangeNumber(1 + random.below(4_000))
                // Now mostly puts, now mostly removals.
                if random.below(10) < (step / 5_000 % 2 == 0 ? 8 : 1) {
                    let isTaken = table.take(document("\(creation) \(step)"), creation, step)
                    #expect(isTaken, "seed \(seed)")
                    model[creation] = step
                } else {
                    table.remove(creation)
                    model[creation] = nil
                }
                guard step % 1_000 == 0 else { continue }
                for creation in ChangeNumber(1)...4_000 {
                    let change = model[creation]
                    let found = text(table.find(creation, change ?? step))
                    #expect(found == change.map { "\(creation) \($0)" }, "seed \(seed), \(step)")
                }
            }
        }
    }
}
