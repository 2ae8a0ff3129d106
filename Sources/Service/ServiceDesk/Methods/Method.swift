import BackendContract
import Objects

/// A method of the service: the permission it needs, the parser of its params, and the read or
/// write that they describe.
///
///     let method = Method[.count]
///     try service.admit(method.operation(of: request), from: caller)
///     switch try method.call(request, limits) { … }
///
/// `Method.init(_:)` defines all of them.
public struct Method: Sendable {
    typealias ReadParser =
        @Sendable (inout Params) throws(ServiceFailure) -> any Read
    typealias WriteParser = @Sendable (inout Params) throws(ServiceFailure) -> Write
    typealias DryRunParser = @Sendable (inout Params) throws(ServiceFailure) -> (any Read)?

    private enum Parser: Sendable {
        case read(ReadParser)
        /// - Parameter dryRun: what is done instead, if the params ask for it.
        case write(WriteParser, dryRun: DryRunParser?)
    }

    /// What sets the requests of some methods apart.
    struct Traits: OptionSet {
        let rawValue: UInt8

        /// The params contain a clause, which may be costly to plan.
        static let asksByClause = Traits(rawValue: 1)
        /// They have to be answered, each in a line of its own.
        static let standsAlone = Traits(rawValue: 2)
        /// They are about the connection that they come on.
        static let concernsConnection = Traits(rawValue: 4)
        /// One may continue what another of its connection has begun.
        static let continues = Traits(rawValue: 8)
        /// Any node answers them, whether or not it holds the bucket.
        static let isForAnyNode = Traits(rawValue: 16)
    }

    /// Its name in the protocol.
    public let name: MethodName
    private let permission: Permission
    private let traits: Traits
    private let parser: Parser

    /// A method that changes nothing.
    init(
        _ name: MethodName, needs permission: Permission, _ traits: Traits = [],
        read: @escaping ReadParser
    ) {
        (self.name, self.permission, self.traits) = (name, permission, traits)
        parser = .read(read)
    }

    /// A method that changes objects of the bucket that its params name.
    ///
    /// - Parameter dryRun: a read that shows what the write would do; nil if the params want it done.
    init(
        _ name: MethodName, _ traits: Traits = [], write: @escaping WriteParser,
        dryRun: DryRunParser? = nil
    ) {
        (self.name, permission, self.traits) = (name, .toWrite(WriteKind(leastOf: name)), traits)
        parser = .write(write, dryRun: dryRun)
    }

    private static let all = MethodName.allCases.map(Method.init)

    /// The method of a name. Every name has one. O(1).
    public static subscript(name: MethodName) -> Method { all[name.rawValue] }

    /// Whether its calls are writes.
    public var isWrite: Bool {
        if case .write = parser { true } else { false }
    }

    /// Whether a request is passed on to a node that holds the bucket which the params name.
    public var needsBucket: Bool {
        switch permission {
        case .toRead, .toWrite: !traits.contains(.isForAnyNode)
        default: false
        }
    }

    /// Whether its requests have to be answered, each in a line of its own.
    public var standsAlone: Bool { traits.contains(.standsAlone) }

    /// Whether its requests are about the connection that they come on.
    public var concernsConnection: Bool { traits.contains(.concernsConnection) }

    /// Whether a request may continue what another of its connection has begun.
    public var continues: Bool { traits.contains(.continues) }

    /// The operation of a request, as far as its method and bucket tell.
    public func operation(of request: UnreadRequest) -> Operation {
        permission.operation(of: request)
    }

    /// Whether a request's params have so many values that reading or planning them would block an
    /// event loop for too long.
    ///
    /// Writes that name objects by id are not planned, so only their bytes count.
    public func isLarge(_ request: UnreadRequest) -> Bool {
        traits.contains(.asksByClause) && request.hasManyValues
    }

    /// Reads the params.
    ///
    /// - Throws: the fault in them, with the path of the member.
    public func call(_ request: UnreadRequest, _ limits: Limits) throws(ServiceFailure) -> Call {
        var params = Params(try request.namedParams, limits)
        let call: Call
        switch parser {
        case .read(let read):
            let read = try read(&params)
            call = .read(read, atLeast: try params.atLeast())
        case .write(let write, let dryRun):
            if let read = try dryRun?(&params) {
                call = .read(read, atLeast: try params.atLeast())
            } else {
                let write = try write(&params)
                call = .write(write, key: try params.requestKey(of: name))
            }
        }
        try params.finish(as: name)
        return call
    }
}

/// A request with valid params.
public enum Call: Sendable {
    /// - Parameter atLeast: the number of a change that the read has to see.
    case read(any Read, atLeast: UInt64?)
    /// Indirect because it is large, and calls of reads are moved often.
    ///
    /// - Parameter key: the client's key for the write, by which a repetition is recognised.
    indirect case write(Write, key: RequestKey?)

    /// The read. A write is queued, not run.
    var read: any Read {
        guard case .read(let read, _) = self else { preconditionFailure("it is a write") }
        return read
    }
}

/// The permission that a method needs; the method's name and the bucket or scope in the params
/// decide it.
enum Permission: Sendable {
    /// No login is required.
    case nothing
    /// No login is required if there are no params, which could be refused.
    case nothingWithoutParams
    case toRead, toList, toAdminister
    case toWrite(WriteKind)
    /// A login. The watch itself was permitted when it began.
    case ownWatch

    func operation(of request: UnreadRequest) -> Operation {
        switch self {
        case .nothing: .open
        case .nothingWithoutParams: request.hasNoParams ? .open : .invalid
        case .toRead: request.bucket.map { .read($0) } ?? .invalid
        case .toWrite(let kind): request.bucket.map { .write($0, kind) } ?? .invalid
        case .toList: request.scope.map { .list($0) } ?? .invalid
        case .toAdminister: .administer
        case .ownWatch: .ownWatch
        }
    }
}
