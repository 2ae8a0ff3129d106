import Glibc
import NIOCore

extension ChannelOption where Self == ChannelOptions.Types.SocketOption {
    /// How many bytes the kernel takes that it cannot send yet.
    ///
    /// Without a bound it takes megabytes for each client that reads nothing. The service's memory
    /// does not count them, and a thousand such clients use up the memory that the kernel has for
    /// all connections of the machine. What is on its way to a client that reads is not bounded.
    ///
    /// - Source: tcp(7), `TCP_NOTSENT_LOWAT`.
    package static var unsentBytes: Self {
        .tcpOption(NIOBSDSocket.Option(rawValue: TCP_NOTSENT_LOWAT))
    }
}

/// The value of `unsentBytes` at every port.
package let maximumUnsentBytes: SocketOptionValue = 131_072
