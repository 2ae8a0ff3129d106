import GeoBucketClient

extension CommandFailure {
    /// A failed call, with what would mend it, if that is known.
    ///
    /// - Parameters:
    ///   - usesTLS: whether the connection used TLS.
    ///   - token: what to log in with; nil if the call was logged in.
    init(_ failure: ClientFailure, at address: Address, usesTLS: Bool, token: String?) {
        self.init(Self.message(failure, address, usesTLS, token))
    }

    private static func message(
        _ failure: ClientFailure, _ address: Address, _ usesTLS: Bool, _ token: String?
    ) -> String {
        if case .refused(let refusal) = failure, refusal.reason == .unauthorized, let token {
            return "\(failure); give \(token)"
        }
        if mayBeWrongPort(failure) {
            let port = AnsweringPort.heard(at: address)
            if let advice = port.advice(after: failure, address, usesTLS: usesTLS) { return advice }
        }
        if case .unreachable = failure { return "\(failure); is `geobucket serve` running?" }
        return failure.description
    }

    /// Whether a call failed as it does at a port that speaks something else.
    private static func mayBeWrongPort(_ failure: ClientFailure) -> Bool {
        switch failure {
        case .malformedAnswer, .disconnected, .insecure, .unreachable: true
        case .refused(let refusal): refusal.errorCode == "INVALID_REQUEST"
        case .timedOut, .closed, .invalid: false
        }
    }
}
