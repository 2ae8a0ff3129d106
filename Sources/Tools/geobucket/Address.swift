import ArgumentParser
import GeoBucketClient
import Glibc
import NIOCore

typealias Address = ServiceAddress

extension ServiceAddress: ExpressibleByArgument {
    /// Parses `HOST:PORT`, an IPv6 host in brackets; nil for anything else.
    public init?(argument: String) { self.init(argument) }

    /// Whether only this machine can reach it.
    var isLoopback: Bool {
        var address = in_addr()
        if inet_pton(AF_INET, host, &address) == 1 {
            return UInt32(bigEndian: address.s_addr) >> 24 == 127
        }
        return host == "localhost" || host == "::1"
    }
}

/// Why the service cannot listen on an address.
func reason(of error: any Error) -> String {
    switch error {
    case let error as IOError: String(cString: strerror(error.errnoCode))
    case is SocketAddressError.UnknownHost: "the host's name is not known"
    default: "\(error)"
    }
}
