import BackendContract
import Objects

/// What expires is matched when its time has come.
extension Matcher {
    func addExpired(to touched: inout Touched, _ former: Moment, _ next: Moment) {
        nextExpiry = .max
        for bucket in buckets.keys {
            for creation in former.state.bucket(bucket, at: next.time)?.expired ?? []
            where touched[bucket]?[creation] == nil {
                touched[bucket, default: [:]].updateValue(nil, forKey: creation)
            }
        }
        // The next one is found among all of them.
        for bucket in buckets.keys { noteExpiry(in: bucket, at: next) }
    }

    func noteExpiry(in bucket: BucketName) {
        if let moment { noteExpiry(in: bucket, at: moment) }
    }

    func noteExpiry(in bucket: BucketName, at moment: Moment) {
        if let next = moment.bucket(bucket)?.nextExpiry { nextExpiry = min(nextExpiry, next) }
    }

    /// The longest time that the thread sleeps before it looks at the clock again.
    private static let longestSleep: Int64 = 60_000

    func arm() {
        guard nextExpiry != .max, nextExpiry < armedFor, let history else { return }
        armedFor = nextExpiry
        let wait = min(max(nextExpiry - history.now(), 1), Self.longestSleep)
        thread.async(after: .milliseconds(wait)) { [weak self] in
            guard let self else { return }
            armedFor = .max
            advance()
        }
    }
}
