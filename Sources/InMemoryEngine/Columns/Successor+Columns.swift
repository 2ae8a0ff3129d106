import Backend
import Objects
import SpatialIndex

/// The writer's part of making columns.
extension Successor {
    /// Columns that have begun and are to be filled.
    struct Begun {
        let bucket: BucketName
        let fillings: [ColumnWorks.Filling]
        /// The bucket's objects, if they are so few among all that each is better looked up.
        let few: PersistentArray<BucketState.SlotRecord>?
    }

    /// One of so many objects of the store is as well found by reading all of them.
    private static let shareOfFew = 8

    /// Does the steps that wait.
    func take(_ works: ColumnWorks) -> [Begun] {
        var begun: [Begun] = []
        for step in works.takeSteps() {
            switch step {
            case .begin(let bucket, let fields):
                let fillings = begin(fields, of: bucket, works)
                guard !fillings.isEmpty, let state = state(of: bucket) else { continue }
                let isFew = state.count * Self.shareOfFew < base.totals.objects
                begun.append(
                    Begun(bucket: bucket, fillings: fillings, few: isFew ? state.records : nil))
            case .fill(let bucket, let fillings, let rows):
                fill(fillings, of: bucket, rows)
                works.filled()
            case .finish(let bucket, let fillings):
                for filling in fillings { finish(filling, of: bucket, works) }
            case .order(let bucket, let filling, let index, let column):
                guard exists(bucket) else { continue }
                modify(bucket) { state in
                    let records = state.records
                    state.columns.install(index, madeOf: column, in: filling) {
                        records[Int($0)].isAlive
                    }
                }
            }
        }
        return begun
    }

    /// Gives up columns until they fit: those that no query has used of late, then any.
    func evictColumns(_ works: ColumnWorks, over budget: Int) {
        let places = works.places
        func entry(_ place: ColumnName) -> ColumnSet.Entry? {
            state(of: place.bucket)?.columns.entries[place.field]
        }
        var bytes = places.reduce(0) { $0 + (entry($1)?.memoryBytes ?? 0) }
        for isLastResort in [false, true] {
            for place in places where bytes > budget {
                guard let entry = entry(place), isLastResort || !entry.use.takeChance() else {
                    continue
                }
                bytes -= entry.memoryBytes
                modify(place.bucket) { $0.columns.remove(place.field) }
                works.forget(place, refused: isLastResort)
            }
        }
    }

    private func begin(
        _ fields: [FieldPath], of bucket: BucketName, _ works: ColumnWorks
    ) -> [ColumnWorks.Filling] {
        guard exists(bucket) else {
            works.forget(bucket)
            return []
        }
        var fillings: [ColumnWorks.Filling] = []
        modify(bucket) { fillings = $0.beginColumns(fields) }
        return fillings
    }

    private func fill(
        _ fillings: [ColumnWorks.Filling], of bucket: BucketName, _ rows: [ColumnWorks.Row]
    ) {
        guard exists(bucket) else { return }
        modify(bucket) { state in
            for row in rows {
                guard let slot = state.slot(created: row.creation) else { continue }
                for (filling, value) in zip(fillings, row.values) {
                    state.columns.fill(slot, with: value, in: filling)
                }
            }
        }
    }

    private func finish(
        _ filling: ColumnWorks.Filling, of bucket: BucketName, _ works: ColumnWorks
    ) {
        guard exists(bucket) else { return }
        modify(bucket) { state in
            guard !state.columns.finish(filling) else { return }
            state.columns.remove(filling.field)
            works.forget(ColumnName(bucket: bucket, field: filling.field), refused: true)
        }
    }

    /// Gives up columns whose dictionaries hold too much that nobody has any more: queries will ask
    /// for them anew.
    func dropWornColumns(_ works: ColumnWorks) {
        for (bucket, state) in touched {
            for (field, entry) in state.columns.entries where entry.column.isWorn {
                modify(bucket) { $0.columns.remove(field) }
                works.forget(ColumnName(bucket: bucket, field: field), refused: false)
            }
        }
    }
}
