import Runtime

/// The number of columns that each principal has asked for in the present minute.
struct ColumnBudgets {
    private var asked: [String?: Int] = [:]
    private var minute: MonotonicTime

    /// The number of principals that have a budget of their own. All others share that of those
    /// without a login.
    private static let mostPrincipals = 1_000

    init(at now: MonotonicTime) { minute = now }

    /// Begins another minute, if one is over.
    ///
    /// - Returns: whether it did.
    mutating func renew(at now: MonotonicTime) -> Bool {
        guard minute.duration(to: now) >= .seconds(60) else { return false }
        (asked, minute) = ([:], now)
        return true
    }

    func hasRoom(for principal: String?, limit: Int) -> Bool {
        asked[account(of: principal), default: 0] < limit
    }

    mutating func charge(_ principal: String?) { asked[account(of: principal), default: 0] += 1 }

    private func account(of principal: String?) -> String? {
        asked[principal] != nil || asked.count < Self.mostPrincipals ? principal : nil
    }
}
