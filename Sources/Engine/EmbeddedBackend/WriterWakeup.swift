import Synchronization

/// Wakes the writer for the engine, which is created before the writer.
final class WriterWakeup: Sendable {
    private struct Target: Sendable { weak var writer: Writer? }

    private let target = Mutex(Target())

    func connect(_ writer: Writer) { target.withLock { $0.writer = writer } }

    func fire() { target.withLock { $0.writer }?.installBackgroundWork() }
}
