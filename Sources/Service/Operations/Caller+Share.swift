extension Caller {
    /// Whose share of the service's threads its work takes: its principal's, and its address' as
    /// long as it has not logged in.
    public var share: String { grant.map { "principal \($0.principal)" } ?? "address \(address)" }
}
