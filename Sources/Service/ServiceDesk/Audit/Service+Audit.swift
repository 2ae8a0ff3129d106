import BackendContract
import Objects

/// What goes into the audit log.
///
/// - Every write of a caller, done or not.
/// - Logins, done or not, but for those that a limit refuses.
/// - What concerns all buckets and may do harm: a backup, a check, a compaction, an ended read.
/// - What is refused to somebody who has logged in. What is refused to strangers is not noted: they
///   could fill the log, and drive out of it what others did.
/// - What only reads, if that is asked for.
extension QueryService {
    /// Notes a write that is over.
    func audit(
        _ method: MethodName, of bucket: BucketName, by caller: Caller,
        _ result: Result<WriteAnswer, ServiceFailure>
    ) {
        guard audit != nil else { return }
        switch result {
        case .success(let answer): note(method, of: bucket, answer.objects, nil, by: caller)
        case .failure(let failure): note(method, of: bucket, nil, failure, by: caller)
        }
    }

    /// Notes a request that was refused before anything of it was done.
    func audit(
        _ method: MethodName?, _ operation: Operation, refused failure: ServiceFailure,
        by caller: Caller
    ) {
        guard audit != nil, failure.reason == .notAllowed else { return }
        note(method, of: operation.bucket, nil, failure, by: caller)
    }

    /// Notes a read that has been answered.
    ///
    /// - Parameters:
    ///   - objects: how many it has found; nil if that is not known.
    ///   - errorCode: the error it was answered with; nil for a result.
    public func auditRead(
        _ method: MethodName?, of bucket: BucketName?, objects: Int?, errorCode: String?,
        by caller: Caller
    ) {
        guard let audit, let method, method.isAudited(withReads: audit.notesReads) else { return }
        let found = method == .get && errorCode == nil ? 1 : objects
        audit.note(
            AuditEntry(
                time: clock.milliseconds(), principal: caller.grant?.principal,
                address: caller.address, method: method, bucket: bucket, objects: found,
                errorCode: errorCode))
    }

    /// Whether the objects that reads find are to be counted.
    public var auditsReads: Bool { audit?.notesReads == true }

    private func note(
        _ method: MethodName?, of bucket: BucketName?, _ objects: Int?, _ failure: ServiceFailure?,
        by caller: Caller
    ) {
        audit?.note(
            AuditEntry(
                time: clock.milliseconds(), principal: caller.grant?.principal,
                address: caller.address, method: method, bucket: bucket, objects: objects,
                errorCode: failure?.reason.rawValue))
    }
}

extension MethodName {
    /// - Parameter withReads: whether what only reads is noted too.
    fileprivate func isAudited(withReads: Bool) -> Bool {
        switch self {
        // Logins are noted where they are decided on.
        case .info, .ping, .login: false
        case .backup, .check, .compact, .cancel: true
        default: withReads
        }
    }
}

extension Operation {
    fileprivate var bucket: BucketName? {
        switch self {
        case .read(let bucket), .write(let bucket, _): bucket
        case .open, .list, .administer, .ownWatch, .invalid: nil
        }
    }
}

extension Write {
    /// The method that asks for it.
    var method: MethodName {
        switch self {
        case .put(_, let object, _): object.id == nil ? .create : .put
        case .putMany: .putMany
        case .patch: .patch
        case .delete: .delete
        case .deleteBucket: .deleteBucket
        case .deleteWhere: .deleteWhere
        }
    }
}

extension WriteAnswer {
    fileprivate var objects: Int {
        switch self {
        case .stored(let results): results.count(where: \.isWritten)
        case .deleted(let count): count
        }
    }
}
