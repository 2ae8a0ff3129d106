import BackendContract

extension Method {
    /// The method of a name. To add a method, add a name, a line here, and a line in the table of
    /// `docs/protocol.md`.
    init(_ name: MethodName) {
        switch name {
        case .info: self.init(name, needs: .nothingWithoutParams) { _ in ServerInfo() }
        case .ping: self.init(name, needs: .nothingWithoutParams) { _ in Ping() }
        case .statistics: self.init(name, needs: .toAdminister, read: Statistics.init)
        case .activity: self.init(name, needs: .toAdminister) { _ in ListActivity() }
        case .cancel: self.init(name, needs: .toAdminister, read: CancelRead.init)
        case .route: self.init(name, needs: .toRead, .isForAnyNode, read: RouteBucket.init)
        case .login: self.init(name, needs: .nothing, .concernsConnection, read: LogIn.init)
        case .listBuckets: self.init(name, needs: .toList, read: ListBuckets.init)
        case .count: self.init(name, needs: .toRead, .asksByClause, read: CountObjects.init)
        case .query: self.init(name, needs: .toRead, .asksByClause, read: QueryObjects.init)
        case .explain: self.init(name, needs: .toRead, .asksByClause, read: ExplainQuery.init)
        case .clusters:
            self.init(name, needs: .toRead, .asksByClause, read: ClusterObjects.init)
        case .fields: self.init(name, needs: .toRead, read: ListFields.init)
        case .export: self.init(name, needs: .toRead, .continues, read: ExportBucket.init)
        case .deleteBucket: self.init(name, write: Write.deleteBucket)
        case .deleteWhere:
            self.init(
                name, .asksByClause, write: Write.deleteWhere, dryRun: CountDeletions.ifWanted)
        case .create: self.init(name, write: Write.create)
        case .put: self.init(name, write: Write.put)
        case .patch: self.init(name, write: Write.patch)
        case .get: self.init(name, needs: .toRead, read: GetObject.init)
        case .delete: self.init(name, write: Write.delete)
        case .putMany: self.init(name, write: Write.putMany)
        case .startWatch:
            self.init(
                name, needs: .toRead,
                [.asksByClause, .standsAlone, .concernsConnection, .isForAnyNode],
                read: StartWatch.init)
        case .moveWatch:
            self.init(
                name, needs: .ownWatch, [.asksByClause, .concernsConnection], read: MoveWatch.init)
        case .syncWatch:
            self.init(name, needs: .ownWatch, .concernsConnection, read: SyncWatch.init)
        case .stopWatch:
            self.init(name, needs: .ownWatch, .concernsConnection, read: StopWatch.init)
        case .check: self.init(name, needs: .toAdminister, read: CheckStore.init)
        case .backup: self.init(name, needs: .toAdminister, read: BackUpStore.init)
        case .compact: self.init(name, needs: .toAdminister) { _ in CompactStore() }
        }
    }
}
