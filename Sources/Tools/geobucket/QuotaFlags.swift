import ArgumentParser
import Objects

/// The flag of `serve` for what scopes may hold.
struct QuotaFlags: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "What the buckets of a scope may hold together, such as users/*:objects=10000,bytes=50MB,buckets=20; rules for several scopes with semicolons between them.",
            valueName: "rules"))
    var quota: String?

    /// The quotas by scopes, `users/alice`, and by kinds of scopes, `users`.
    func rules(_ settings: Settings) throws -> [String: Quota] {
        guard let text = settings.string("quota", flag: quota) else { return [:] }
        do {
            return try QuotaText.rules(text)
        } catch let fault as QuotaText.Fault {
            throw ValidationError("\(settings.source(of: "quota", flag: quota)): \(fault.reason)")
        }
    }
}

/// Quotas as people type them.
enum QuotaText {
    /// What is wrong with a text.
    struct Fault: Error { let reason: String }

    private static let kinds: Set<Substring> = ["users", "groups", "things"]

    /// `users/*:objects=10000,bytes=50MB;users/alice:objects=20000`.
    static func rules(_ text: String) throws -> [String: Quota] {
        var rules: [String: Quota] = [:]
        for rule in text.split(separator: ";", omittingEmptySubsequences: false) {
            let parts = rule.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2 else {
                throw Fault(
                    reason: "\"\(rule)\" is no SCOPE:BOUNDS, such as users/*:objects=10000")
            }
            let scope = try scope(parts[0])
            guard rules.updateValue(try quota(String(parts[1])), forKey: scope) == nil else {
                throw Fault(reason: "\"\(parts[0])\" stands here twice")
            }
        }
        return rules
    }

    /// The scope, or the kind of `users/*`.
    private static func scope(_ text: Substring) throws -> String {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        if parts.count == 2, parts[1] == "*", kinds.contains(parts[0]) { return String(parts[0]) }
        do {
            return try BucketScope(String(text), at: "quota").text
        } catch {
            throw Fault(
                reason:
                    "\"\(text)\" is neither a scope, such as users/alice, nor users/*, groups/* "
                    + "or things/*")
        }
    }

    /// `objects=10000,bytes=50MB,buckets=20`.
    static func quota(_ text: String) throws -> Quota {
        var quota = Quota()
        for bound in text.split(separator: ",", omittingEmptySubsequences: false) {
            let parts = bound.split(separator: "=", omittingEmptySubsequences: false)
            let path: WritableKeyPath<Quota, Int?>? =
                switch parts.first {
                case "objects": \.objects
                case "bytes": \.bytes
                case "buckets": \.buckets
                default: nil
                }
            let measure: Measure = path == \.bytes ? .bytes : .count
            guard let path, parts.count == 2, let value = measure.value(of: String(parts[1])),
                value >= 0
            else {
                throw Fault(
                    reason: "\"\(bound)\" is none of objects=NUMBER, bytes=SIZE and buckets=NUMBER")
            }
            guard quota[keyPath: path] == nil else {
                throw Fault(reason: "\"\(parts[0])\" stands here twice")
            }
            quota[keyPath: path] = value
        }
        return quota
    }
}
