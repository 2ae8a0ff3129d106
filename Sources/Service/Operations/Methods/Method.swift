import Backend
import Objects
import WireProtocol

/// A method of the service: what it needs to be let through, how its params are read, and what runs
/// with them.
///
///     let method = Method[.count]
///     try service.admit(method.operation(of: request), from: caller)
///     switch try method.call(request, limits) { … }
///
/// All of them stand in `Method.init(_:)`.
public struct Method: Sendable {
    typealias ReadParser =
        @Sendable (inout Params) throws(ServiceFailure) -> any Read
    typealias WriteParser = @Sendable (inout Params) throws(ServiceFailure) -> Write

    private enum Parser: Sendable {
        case read(ReadParser)
        case write(WriteParser)
    }

    /// Its name on the wire.
    public let name: MethodName
    private let permission: Permission
    private let asksByClause: Bool
    private let parser: Parser

    /// A method that changes nothing.
    ///
    /// - Parameter asksByClause: whether its params have a clause, to plan which may be much work.
    init(
        _ name: MethodName, needs permission: Permission, asksByClause: Bool = false,
        read: @escaping ReadParser
    ) {
        (self.name, self.permission, self.asksByClause) = (name, permission, asksByClause)
        parser = .read(read)
    }

    /// A method that changes objects of the bucket that its params name.
    init(_ name: MethodName, asksByClause: Bool = false, write: @escaping WriteParser) {
        (self.name, permission, self.asksByClause) = (name, .toWrite, asksByClause)
        parser = .write(write)
    }

    private static let all = MethodName.allCases.map(Method.init)

    /// The method of a name; every name has one. O(1).
    public static subscript(name: MethodName) -> Method { all[name.rawValue] }

    /// Whether its calls are writes.
    public var isWrite: Bool {
        if case .write = parser { true } else { false }
    }

    /// What a request is about to do, as far as its method and the bucket it names tell.
    public func operation(of request: UnreadRequest) -> Operation {
        permission.operation(of: request)
    }

    /// Whether the params of a request are so many values that even to read them, or to plan what
    /// they ask for, is more than a thread should do for which others wait.
    ///
    /// Of a write that changes objects by their ids the bytes alone count: nothing is planned.
    public func isLarge(_ request: UnreadRequest) -> Bool { asksByClause && request.hasManyValues }

    /// Reads the params.
    ///
    /// - Throws: what is wrong with them, with the path of the member.
    public func call(_ request: UnreadRequest, _ limits: Limits) throws(ServiceFailure) -> Call {
        var params = Params(try request.namedParams, limits)
        let call: Call
        switch parser {
        case .read(let read): call = .read(try read(&params))
        case .write(let write):
            let write = try write(&params)
            call = .write(write, key: try params.requestKey(of: name))
        }
        try params.finish(as: name)
        return call
    }
}

/// What a request asks for, its params read and valid.
public enum Call: Sendable {
    case read(any Read)
    /// - Parameter key: what its client calls the write, so that a repeat is recognised.
    case write(Write, key: RequestKey?)
}

/// What a method needs to be let through, which is told by its name and the bucket or scope that its
/// params name.
enum Permission: Sendable {
    /// Nobody has to log in.
    case nothing
    /// Nobody has to log in, as long as there are no params to be refused.
    case nothingWithoutParams
    case toRead, toWrite, toList, toAdminister

    func operation(of request: UnreadRequest) -> Operation {
        switch self {
        case .nothing: .open
        case .nothingWithoutParams: request.hasNoParams ? .open : .invalid
        case .toRead: request.bucket.map { .read($0) } ?? .invalid
        case .toWrite: request.bucket.map { .write($0) } ?? .invalid
        case .toList: request.scope.map { .list($0) } ?? .invalid
        case .toAdminister: .administer
        }
    }
}
