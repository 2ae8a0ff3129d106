import Objects

/// A copy of a store at one moment, produced piece by piece.
public protocol StoreBackup: Sendable {
    /// Does the next piece of the work.
    ///
    /// - Parameter maximumBytes: the maximum size of the piece.
    /// - Returns: the next bytes of the copy, which may be empty; nil at the end of the copy.
    func next(maximumBytes: Int) throws(ServiceFailure) -> [UInt8]?
}
