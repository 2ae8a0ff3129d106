import JSONText
import Objects
import PersistentStructures
import QueryLanguage
import TestSupport
import Testing

@testable import InMemoryEngine

/// Columns and their orders against the documents they are made of.
@Suite struct ColumnTests {
    /// A column beside its documents, and what the documents say.
    private struct Run {
        var random: SplitMix64
        let pool: [String?]
        var documents: [String] = []
        var alive: [Bool] = []
        var column = Column(slots: 0)
        var index: OrderedIndex?

        /// - Parameter distinct: about how many values there are to draw from.
        init(seed: UInt64, distinct: Int) {
            var random = SplitMix64(seed: seed)
            let objects = ObjectGenerator(&random)
            var pool: [String?] = [nil, "null", "true", "false", "[]", "[1]", "{}", "\"\""]
            while pool.count < distinct {
                switch random.below(5) {
                case 0: pool.append(objects.scalar(&random))
                case 1: pool.append(objects.point(&random))
                case 2: pool.append("\"name \(random.below(1 << 30))\"")
                case 3: pool.append("\(Double(random.below(1 << 40)) / 64)")
                default: pool.append("\(random.below(1 << 40))")
                }
            }
            self.pool = pool
            self.random = random
        }

        static func reading<Result>(
            _ document: String, _ body: (JSONView) throws -> Result
        ) throws -> Result { try JSONParser.reading(Array(document.utf8), body) }

        func value(_ slot: Int) throws -> SortValue {
            try Self.reading(documents[slot]) { SortValue(field.value(in: $0)) }
        }

        mutating func put(_ slot: Int) throws {
            if slot < alive.count, !alive[slot] { return }  // a slot never comes back
            let document = random.pick(pool).map { #"{"f":\#($0)}"# } ?? "{}"
            let value = try Self.reading(document) { ColumnValue(field.value(in: $0)) }
            if slot < documents.count {
                index?.remove(Slot(slot), column.cell(of: Slot(slot)), in: column)
                documents[slot] = document
            } else {
                documents.append(document)
                alive.append(true)
            }
            column.set(Slot(slot), to: value)
            index?.insert(Slot(slot), column.cell(of: Slot(slot)), in: column)
        }

        mutating func delete(_ slot: Int) {
            index?.remove(Slot(slot), column.cell(of: Slot(slot)), in: column)
            column.set(Slot(slot), to: Cell.missing)
            (documents[slot], alive[slot]) = ("{}", false)
        }

        /// Every slot that is alive, by its value and then by slot.
        func sorted(descending: Bool) throws -> [Slot] {
            let keyed = try documents.indices.filter { alive[$0] }.map { slot in
                var key = SortKey()
                key.append(try value(slot), descending: descending)
                return (key: key, slot: Slot(slot))
            }
            return keyed.sorted { $0.key != $1.key ? $0.key < $1.key : $0.slot < $1.slot }
                .map(\.slot)
        }

        mutating func leaf() throws -> Clause {
            func literal() throws -> Literal? {
                try random.pick(pool).flatMap { text in
                    try Self.reading("{\"v\":\(text)}") { view in Literal(view["v"]!) }
                }
            }
            let strings: [[UInt8]] = [[], Array("n".utf8), Array("name 1".utf8), Array("a".utf8)]
            switch random.below(6) {
            case 0: return try literal().map { .eq(field, $0) } ?? .hasField(field, nil)
            case 1: return .isIn(field, try (0..<12).compactMap { _ in try literal() } + [.null])
            case 2: return .prefix(field, random.pick(strings))
            case 3: return .hasField(field, random.pick(FieldType.allCases))
            case 4:
                return .range(
                    field,
                    .strings(
                        lower: .init(random.pick(strings), included: random.oneIn(2)),
                        upper: random.oneIn(2) ? nil : .init(random.pick(strings))))
            default:
                guard case .number(let number)? = try literal() else { return try leaf() }
                let limit = LiteralRange.Limit(number, included: random.oneIn(2))
                return .range(
                    field,
                    random.oneIn(2)
                        ? .numbers(lower: limit, upper: nil) : .numbers(lower: nil, upper: limit))
            }
        }
    }

    @Test(arguments: [12, 240, 900, 3_000], [1, 2] as [UInt64])
    func `cells and counts are what the documents say, however wide the column`(
        distinct: Int, seed: UInt64
    ) throws {
        var run = Run(seed: seed, distinct: distinct)
        for slot in 0..<4_000 { try run.put(slot) }
        for _ in 0..<1_500 { try run.put(run.random.below(4_000)) }
        var counts: [Cell: Int] = [:]
        for slot in run.documents.indices {
            let cell = run.column.cell(of: Slot(slot))
            counts[cell, default: 0] += 1
            #expect(try run.column.sortValue(cell) == run.value(slot), "seed \(seed), \(slot)")
        }
        for (cell, count) in counts {
            let counted = run.column.uses(of: cell)
            #expect(counted == nil || counted == count, "seed \(seed), \(cell)")
        }
        #expect((run.column.uses(of: .null) == nil) == (distinct > 600), "seed \(seed)")
        let kept = (0..<4_000).filter { $0 % 3 != 0 }
        let renumbered = run.column.renumbered(kept.map { Slot($0) })
        for (number, slot) in kept.enumerated() {
            let cell = renumbered.cell(of: Slot(number))
            #expect(try renumbered.sortValue(cell) == run.value(slot), "seed \(seed), \(slot)")
        }
    }

    @Test(arguments: [12, 240, 900, 3_000], [1, 2] as [UInt64])
    func `a column and its order under other numbers are those of the documents kept`(
        distinct: Int, seed: UInt64
    ) throws {
        var run = Run(seed: seed, distinct: distinct)
        for slot in 0..<3_000 { try run.put(slot) }
        run.index = OrderedIndex(run.column) { _ in true }
        for _ in 0..<400 { try run.put(run.random.below(3_000)) }
        for slot in 0..<3_000 where slot % 7 == 0 { run.delete(slot) }
        let kept = run.documents.indices.filter { run.alive[$0] }
        let column = run.column.renumbered(kept.map { Slot($0) })
        run.index = run.index!.renumbered(kept.map { Slot($0) }, from: run.column, to: column)
        run.column = column
        run.documents = kept.map { run.documents[$0] }
        run.alive = kept.map { _ in true }
        try check(&run, "seed \(seed)")
        // Its dictionary is its own: what is written to one is not seen in the other.
        for _ in 0..<300 { try run.put(run.random.below(kept.count)) }
        try check(&run, "seed \(seed), written")
    }

    @Test func `an order whose changes have grown long is worn, and merged is the same order`()
        throws
    {
        var run = Run(seed: 5, distinct: 900)
        for slot in 0..<5_000 { try run.put(slot) }
        run.index = OrderedIndex(run.column) { _ in true }
        while try !#require(run.index).isWorn { try run.put(run.random.below(5_000)) }
        let merged = try #require(run.index).merged(run.column)
        #expect(!merged.isWorn)
        #expect(
            walk(OrderedWalk(merged, run.column)) == walk(OrderedWalk(run.index!, run.column)))
        run.index = merged
        try check(&run, "merged")
    }

    @Test func `a column whose strings come and go is worn, one whose values stay is not`() throws {
        var column = Column(slots: 0)
        func put(_ number: Int, in slot: Int) throws {
            try Run.reading("{\"f\":\"name \(number)\"}") {
                column.set(Slot(slot), to: ColumnValue(field.value(in: $0)))
            }
        }
        for number in 0..<10_000 { try put(number % 100, in: number % 100) }
        #expect(!column.isWorn)
        for number in 0..<1_300 { try put(number, in: number % 100) }
        #expect(column.isWorn)
    }

    @Test(arguments: [12, 240, 900], [1, 2, 3] as [UInt64])
    func `leaves are true, false and unknown for the same objects as on documents`(
        distinct: Int, seed: UInt64
    ) throws {
        var run = Run(seed: seed, distinct: distinct)
        for slot in 0..<800 { try run.put(slot) }
        for _ in 0..<150 {
            let leaf = try run.leaf()
            guard let test = CellPredicate(leaf, on: run.column) else { continue }
            for slot in run.documents.indices {
                let expected = try Run.reading(run.documents[slot]) { leaf.evaluate(on: $0) }
                let found = test.truth(run.column.cell(of: Slot(slot)), in: run.column)
                #expect(found == expected, "seed \(seed), \(leaf), \(run.documents[slot])")
            }
        }
    }

    @Test(arguments: [12, 240, 900], [1, 2, 3] as [UInt64])
    func `an order walks as the sorted documents do, while they change`(
        distinct: Int, seed: UInt64
    ) throws {
        var run = Run(seed: seed, distinct: distinct)
        for slot in 0..<600 { try run.put(slot) }
        run.index = OrderedIndex(run.column) { _ in true }
        for round in 0..<4 {
            // More changes than the list of changes takes.
            for _ in 0..<(round == 2 ? 700 : 90) { try run.put(run.random.below(600)) }
            for _ in 0..<20 { try run.put(run.documents.count) }
            for _ in 0..<15 {
                let slot = run.random.below(run.documents.count)
                if run.alive[slot] { run.delete(slot) }
            }
            try check(&run, "seed \(seed), round \(round)")
        }
    }

    private func check(_ run: inout Run, _ context: String) throws {
        let index = try #require(run.index)
        for descending in [false, true] {
            let sorted = try run.sorted(descending: descending)
            #expect(
                walk(OrderedWalk(index, run.column, descending: descending)) == sorted, "\(context)"
            )
            for _ in 0..<5 {
                let at = run.random.below(sorted.count)
                let after = (value: try run.value(Int(sorted[at])), slot: Int(sorted[at]) + 1)
                let rest = walk(
                    OrderedWalk(index, run.column, descending: descending, after: after))
                #expect(rest == Array(sorted[(at + 1)...]), "\(context), behind \(sorted[at])")
            }
        }
        for _ in 0..<25 {
            let leaf = try run.leaf()
            guard let range = ColumnRange(leaf) else { continue }
            let expected = try run.sorted(descending: false).filter { slot in
                try Run.reading(run.documents[Int(slot)]) { leaf.evaluate(on: $0) } == .yes
            }
            #expect(
                walk(OrderedWalk(index, run.column, range: range)) == expected,
                "\(context), \(leaf)")
        }
    }

    private func walk(_ walk: OrderedWalk) -> [Slot] {
        var (walk, slots) = (walk, [Slot]())
        while let slot = walk.next() { slots.append(slot) }
        return slots
    }
}

private let field = FieldPath("f")

extension Literal {
    fileprivate init?(_ view: JSONView) {
        switch view.kind {
        case .null: self = .null
        case .bool: self = .bool(view.bool!)
        case .number: self = .number(view.number!)
        case .string: self = .string(Array(view.utf8!))
        case .object:
            guard let coordinate = GeoPoint.coordinate(of: view) else { return nil }
            self = .point(coordinate)
        case .array, .huge: return nil
        }
    }
}
