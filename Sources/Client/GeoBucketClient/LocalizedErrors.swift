import PlainJSON

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

// The `localizedDescription` of errors is their own message, as there are no translations.

extension ClientFailure: LocalizedError { public var errorDescription: String? { description } }
extension RemoteFailure: LocalizedError { public var errorDescription: String? { description } }
extension JSONMismatch: LocalizedError { public var errorDescription: String? { description } }
