import NIOPosix
import Runtime

/// Event loops for connections, each on a thread of the library's, with its priority.
package func eventLoops(_ count: Int) -> MultiThreadedEventLoopGroup {
    let group = MultiThreadedEventLoopGroup(numberOfThreads: count)
    for loop in group.makeIterator() { loop.execute { Niceness.eventLoop.take() } }
    return group
}
