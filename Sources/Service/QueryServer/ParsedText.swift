/// What a text is found to be that was looked at.
enum ParsedText: Sendable {
    /// A request whose params have been read, or that was refused.
    case request(Request)
    /// The texts of a batch's requests.
    case batch([ArraySlice<UInt8>])
    /// A request that is let through, with so much in its params that they are to be read elsewhere.
    case much
}
