import Objects

/// A copy of a store as it was at one moment, in the making.
public protocol StoreBackup: Sendable {
    /// Does some more of the work.
    ///
    /// - Parameter maximumBytes: what the piece may have.
    /// - Returns: the next bytes of the copy, perhaps none yet; nil at its end.
    func next(maximumBytes: Int) throws(ServiceFailure) -> [UInt8]?
}
