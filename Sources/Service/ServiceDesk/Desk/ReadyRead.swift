/// A read that has been checked and planned, or a request that has failed.
package struct ReadyRead: Sendable {
    package let request: ServiceRequest
    /// When its turn came, by the monotonic clock.
    package let begin: Int64
    package let preparation: Preparation
    /// Who asks; nil if it has failed before it was planned.
    let caller: Caller?
    /// How many objects it has found, if that is to be noted.
    let found: FoundCount?

    package init(
        request: ServiceRequest, begin: Int64, preparation: Preparation = .cheap,
        caller: Caller? = nil, found: FoundCount? = nil
    ) {
        (self.request, self.begin, self.preparation) = (request, begin, preparation)
        (self.caller, self.found) = (caller, found)
    }

    /// What it does. A request that has failed does nothing.
    var read: any Read { request.call!.read }
}

/// The answer to a read that had not begun officially.
package struct EarlyAnswer: Sendable {
    package let read: ReadyRead
    /// The number of the state that it saw, or of an earlier one.
    let state: UInt64
    /// Without the punctuation of its line.
    package let bytes: [UInt8]
}
