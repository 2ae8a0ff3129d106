import BackendContract
import JSONText
import Objects
import QueryLanguage

/// A page of objects. If its plan is light, the objects are found when the page is prepared, and
/// only the documents remain to be fetched.
///
/// `@unchecked Sendable`: by contract, only one thread at a time runs it and uses its execution.
final class PreparedPage: PreparedRead, @unchecked Sendable {
    private let planned: PlannedQuery
    private let key: PageKey?
    private let found: Result<FoundPage, ServiceFailure>?
    private let isUnderestimated: Bool
    let isCostly: Bool

    init(
        _ query: Query, in bucket: BucketName, by principal: String?, on engine: Engine
    ) throws(ServiceFailure) {
        let key = try engine.pageKey(of: query, in: bucket)
        let pageObjects = engine.pageObjects(query.limit)
        let planned = PlannedQuery(
            query, in: bucket, pageObjects: pageObjects, by: principal, on: engine)
        if planned.isLight {
            do throws(ServiceFailure) {
                let page = try FoundPage(
                    planned, after: key, within: engine.briefBounds, isBrief: true)
                (isCostly, isUnderestimated) = (page.isCostly, false)
                found = .success(page)
            } catch {
                // Estimated too low: it is searched on a worker thread instead.
                let isTooLong = error.reason == .queryTimeout
                (isCostly, isUnderestimated) = (isTooLong, isTooLong)
                found = isTooLong ? nil : .failure(error)
            }
            if !isCostly { planned.requestColumns() }
        } else {
            (found, isCostly, isUnderestimated) = (nil, true, false)
        }
        (self.key, self.planned) = (key, planned)
    }

    var outline: (bucket: BucketName, plan: String)? { planned.outline }
    var clauseShape: String? { planned.clauseShape }

    func mayRun(
        since begin: Int64, after waits: Int, until stop: StopSignal,
        _ ready: @escaping @Sendable (ServiceFailure?) -> Void
    ) -> Bool { found != nil || planned.mayRun(since: begin, after: waits, until: stop, ready) }

    func run(
        maximumBytes: Int, until stop: StopSignal?, into writer: inout JSONWriter
    ) throws(ServiceFailure) -> ReadEnd {
        switch found {
        case .success(let page):
            page.execution.budget.bounds = planned.engine.bounds(until: stop)
            return try write(page, maximumBytes, into: &writer)
        case .failure(let failure): throw failure
        case nil:
            let bounds = planned.engine.bounds(until: stop)
            planned.requestColumns(isUnderestimated: isUnderestimated)
            let page = try FoundPage(planned, after: key, within: bounds)
            return try write(page, maximumBytes, into: &writer)
        }
    }

    private func write(
        _ page: FoundPage, _ maximumBytes: Int, into writer: inout JSONWriter
    ) throws(ServiceFailure) -> ReadEnd {
        let end = try page.write(maximumBytes: maximumBytes, into: &writer)
        planned.engine.planCounters.count(page.execution.plan.path.kind)
        return end
    }
}
