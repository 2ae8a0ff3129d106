import NIOPosix
import Runtime

/// Event loops for connections, each on a thread of the library's, with its priority. Their turns are
/// measured.
package func eventLoops(_ count: Int) -> MultiThreadedEventLoopGroup {
    let group = MultiThreadedEventLoopGroup(numberOfThreads: count, metricsDelegate: TurnMeter())
    for loop in group.makeIterator() { loop.execute { Niceness.eventLoop.take() } }
    return group
}
