import FoundationEssentials
import JSONText

// What `localizedDescription` says of errors: their own words, for want of translations.

extension ClientFailure: LocalizedError { public var errorDescription: String? { description } }
extension RemoteFailure: LocalizedError { public var errorDescription: String? { description } }
extension JSONMismatch: LocalizedError { public var errorDescription: String? { description } }
