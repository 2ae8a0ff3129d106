import Objects

extension RPCFailure {
    static func methodNotFound(_ name: String) -> RPCFailure {
        RPCFailure(-32601, "METHOD_NOT_FOUND", "there is no method \(quoted(name))")
    }
}
