import BackendContract
import Objects

/// The writer's part of background work.
extension NextSnapshot {
    func install(_ merges: [BackgroundMerges.Finished]) {
        for merge in merges where exists(merge.bucket) {
            noteRebuilt(merge.bucket)
            modify(merge.bucket) { _ = $0.install(merge.tier, in: merge.field) }
        }
    }

    func install(_ finished: [BucketJobs.Finished], _ columnRequests: ColumnRequests) {
        for finished in finished {
            var job = finished.job
            guard exists(finished.bucket) else {
                job.giveUp(columnRequests, of: finished.bucket)
                continue
            }
            modify(finished.bucket) { state in
                guard state.numbering == job.numbering else {
                    return job.giveUp(columnRequests, of: finished.bucket)
                }
                job.catchUp(finished.written, state)
                job.install(in: &state, columnRequests, of: finished.bucket)
            }
        }
    }

    /// Evicts columns until the rest fits the budget: first those that no query has used recently,
    /// then any.
    func evictColumns(_ columnRequests: ColumnRequests, over budget: Int) {
        guard columnBytes > budget else { return }
        let columnNames = columnRequests.columnNames
        func entry(_ columnName: ColumnName) -> ColumnSet.Entry? {
            state(of: columnName.bucket)?.columns.entries[columnName.field]
        }
        var bytes = columnNames.reduce(0) { $0 + (entry($1)?.memoryBytes ?? 0) }
        for isLastResort in [false, true] {
            for columnName in columnNames where bytes > budget {
                guard let entry = entry(columnName), isLastResort || !entry.use.takeChance() else {
                    continue
                }
                bytes -= entry.memoryBytes
                noteRebuilt(columnName.bucket)
                modify(columnName.bucket) { $0.columns.remove(columnName.field) }
                columnRequests.dropped(columnName, refused: isLastResort)
            }
        }
    }

    /// Removes columns whose dictionaries hold too many unused values. Queries will request them
    /// again.
    func dropWornColumns(_ columnRequests: ColumnRequests) {
        for (bucket, state) in touched {
            for (field, entry) in state.columns.entries where entry.column.isWorn {
                noteRebuilt(bucket)
                modify(bucket) { $0.columns.remove(field) }
                columnRequests.dropped(ColumnName(bucket: bucket, field: field), refused: false)
            }
        }
    }
}
