import Backend
import Columns
import Objects

/// The writer's part of what is made beside it.
extension Successor {
    func install(_ merges: [BackgroundMerges.Finished]) {
        for merge in merges where exists(merge.bucket) {
            noteRebuilt(merge.bucket)
            modify(merge.bucket) { _ = $0.install(merge.tier, in: merge.field) }
        }
    }

    func install(_ finished: [BucketJobs.Finished], _ works: ColumnWorks) {
        for finished in finished {
            var job = finished.job
            guard exists(finished.bucket) else {
                job.giveUp(works, of: finished.bucket)
                continue
            }
            modify(finished.bucket) { state in
                guard state.numbering == job.numbering else {
                    return job.giveUp(works, of: finished.bucket)
                }
                job.catchUp(finished.written, state)
                job.install(in: &state, works, of: finished.bucket)
            }
        }
    }

    /// Gives up columns until they fit: those that no query has used of late, then any.
    func evictColumns(_ works: ColumnWorks, over budget: Int) {
        guard columnBytes > budget else { return }
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
                noteRebuilt(place.bucket)
                modify(place.bucket) { $0.columns.remove(place.field) }
                works.forget(place, refused: isLastResort)
            }
        }
    }

    /// Gives up columns whose dictionaries hold too much that nobody has any more: queries will ask
    /// for them anew.
    func dropWornColumns(_ works: ColumnWorks) {
        for (bucket, state) in touched {
            for (field, entry) in state.columns.entries where entry.column.isWorn {
                noteRebuilt(bucket)
                modify(bucket) { $0.columns.remove(field) }
                works.forget(ColumnName(bucket: bucket, field: field), refused: false)
            }
        }
    }
}
