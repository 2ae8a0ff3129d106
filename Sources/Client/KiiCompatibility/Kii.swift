import Foundation
import GeoBucketClient
import Synchronization

/// The entry point for code that was written for Kii's SDK.
///
///     Kii.begin(ServiceAddress(host: "127.0.0.1", port: 4362))
///     let bucket = Kii.bucket(withName: "mydata")
public enum Kii {
    private struct Session {
        var client: ServiceClient
        var user: KiiUser?
    }

    private static let session = Mutex<Session?>(nil)

    /// The configuration of `begin` if none is given: a call waits two seconds for a service that
    /// does not answer, and not the client's fifteen, because a blocking call holds up its thread.
    public static var defaultConfiguration: ClientConfiguration {
        var configuration = ClientConfiguration()
        configuration.connectTimeout = .seconds(2)
        configuration.retryTime = .seconds(2)
        return configuration
    }

    /// Sets the service for all later calls. The first call connects to it. The connection of an
    /// earlier `begin` is closed.
    ///
    /// - Parameters:
    ///   - userID: the `KiiUser.current()`, and the owner of its buckets. It is not a login and not
    ///     the `_owner` of objects: that is the principal of the token.
    ///   - configuration: a changed `defaultConfiguration`. Its `token` logs in. For users to own
    ///     what they create and to access their buckets, the token's principal must be `userID`.
    public static func begin(
        _ address: ServiceAddress = .standard, userID: String? = nil,
        configuration: ClientConfiguration = defaultConfiguration
    ) {
        let client = ServiceClient(address, configuration: configuration)
        let session = Session(client: client, user: userID.map { KiiUser(userID: $0) })
        if let last = replace(session) { Task { await last.close() } }
    }

    /// Closes the connection; call `begin` before anything else.
    public static func end() async { await replace(nil)?.close() }

    /// The client of the session that ends.
    private static func replace(_ new: Session?) -> ServiceClient? {
        session.withLock { session in
            defer { session = new }
            return session?.client
        }
    }

    /// The client that `begin` made; traps before that.
    public static var service: ServiceClient {
        guard let client = session.withLock({ $0?.client }) else {
            preconditionFailure("Kii.begin has to be called first")
        }
        return client
    }

    fileprivate static var user: KiiUser? { session.withLock { $0?.user } }

    /// A bucket of the application's own scope.
    public static func bucket(withName name: String) -> KiiBucket { service.bucket(name) }
}

/// A user, whose buckets are their own.
public struct KiiUser: Sendable {
    /// Never nil; optional because code written for Kii unwraps it.
    public let userID: String!

    /// A user by an id, which is not checked here. It is not a login either: what the user may do
    /// is decided by the token of `Kii.begin`.
    public init(userID: String) { self.userID = userID }

    /// The user that `Kii.begin` set.
    public static func current() -> KiiUser? { Kii.user }

    /// A bucket of the user's scope; traps before `Kii.begin`.
    public func bucket(withName name: String) -> KiiBucket {
        Kii.service.bucket(name, in: .user(userID))
    }
}

/// A group, whose buckets are its own. Members are not kept: tokens decide who may do what.
public struct KiiGroup: Sendable {
    /// The id in the names of the group's buckets, `groups/ID/NAME`.
    public let groupID: String

    /// A group by an id, which is not checked here; nothing is sent.
    public init(groupID: String) { self.groupID = groupID }

    /// A bucket of the group's scope; traps before `Kii.begin`.
    public func bucket(withName name: String) -> KiiBucket {
        Kii.service.bucket(name, in: .group(groupID))
    }
}

extension GeoPoint {
    /// Kii's spelling of `init(latitude:longitude:)`, degrees; a point out of range is refused when
    /// it is set or saved.
    public init(latitude: Double, andLongitude longitude: Double) {
        self.init(latitude: latitude, longitude: longitude)
    }
}

extension GeoObject {
    /// The object that a URI names; nil for a text that is not a URI.
    public convenience init?(uri: String) { self.init(uri: uri, client: Kii.service) }

    /// Writes the object's `description` to the log, for developers.
    public func describe() { NSLog("%@", NSString(string: description)) }
}
