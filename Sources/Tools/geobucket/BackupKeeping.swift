/// Which of a service's backups are kept: `24h:1h,7d:1d` is one an hour for a day, and one a day for a
/// week.
struct BackupKeeping {
    private struct Rule {
        /// In seconds.
        let span: Int
        let step: Int
    }

    /// None: all are kept.
    private let rules: [Rule]

    static let standard = "24h:1h,7d:1d"

    /// Nil for a text that is neither `all` nor rules.
    init?(_ text: String) {
        guard text != "all" else {
            rules = []
            return
        }
        var rules: [Rule] = []
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            let lengths = part.split(separator: ":", omittingEmptySubsequences: false)
                .map { TimeLength(argument: String($0)) }
            guard lengths.count == 2, let span = lengths[0], let step = lengths[1],
                step.milliseconds >= 1_000, step.milliseconds <= span.milliseconds
            else { return nil }
            rules.append(
                Rule(span: span.milliseconds / 1_000, step: step.milliseconds / 1_000))
        }
        self.rules = rules
    }

    /// The backups that need not be kept. The newest is kept in any case.
    ///
    /// Of the backups of one step the oldest is kept, so it is the same one until it is too old.
    func outdated(_ times: [BackupTime], at now: BackupTime) -> [BackupTime] {
        guard !rules.isEmpty, let newest = times.max() else { return [] }
        var kept: Set = [newest.seconds]
        for rule in rules {
            var steps: Set<Int> = []
            for time in times.sorted() where now.seconds - time.seconds <= rule.span {
                if steps.insert(time.seconds / rule.step).inserted { kept.insert(time.seconds) }
            }
        }
        return times.filter { !kept.contains($0.seconds) }
    }
}
