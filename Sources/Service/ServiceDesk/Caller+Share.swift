extension Caller {
    /// The owner of the caller's jobs in fair queues: the principal, or the address before a login.
    public var share: String { grant.map { "principal \($0.principal)" } ?? "address \(address)" }
}
