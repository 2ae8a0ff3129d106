import PlainJSON

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

// What `localizedDescription` says of errors: their own words, for want of translations.

extension ClientFailure: LocalizedError { public var errorDescription: String? { description } }
extension RemoteFailure: LocalizedError { public var errorDescription: String? { description } }
extension JSONMismatch: LocalizedError { public var errorDescription: String? { description } }
