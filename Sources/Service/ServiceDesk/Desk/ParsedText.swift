/// The result of parsing a text.
package enum ParsedText: Sendable {
    /// A request whose params have been read, or that was refused.
    case request(ServiceRequest)
    /// The texts of a batch's requests.
    case batch([ArraySlice<UInt8>])
    /// An admitted request whose params are so large that a worker thread has to read them.
    case much
}
