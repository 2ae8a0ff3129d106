import ArgumentParser
import GeoBucketClient

typealias Address = ServiceAddress

extension ServiceAddress: ExpressibleByArgument {
    public init?(argument: String) { self.init(argument) }

    /// Whether only this machine can reach it.
    var isLoopback: Bool { host == "localhost" || host == "::1" || host.hasPrefix("127.") }
}
