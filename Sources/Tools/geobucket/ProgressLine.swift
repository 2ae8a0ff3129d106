import Objects
import Synchronization

/// One line of standard error that is rewritten in place, on a terminal only.
struct ProgressLine {
    private let isShown = Console.errorIsTerminal
    private var lastShown = ContinuousClock.now
    private var isVisible = false
    private var calls = 0

    /// Shows the progress, a few times a second.
    mutating func show(_ objects: Int, _ bytes: @autoclosure () -> Int, _ total: Int?) {
        guard isShown else { return }
        calls += 1
        guard calls & 255 == 0 else { return }
        let share = total.map { $0 > 0 ? ", \(bytes() * 100 / $0) %" : "" } ?? ""
        show("\(counted(objects, "object"))\(share)")
    }

    /// Shows a text, a few times a second.
    mutating func show(_ text: @autoclosure () -> String) {
        guard isShown, ContinuousClock.now - lastShown > .milliseconds(200) else { return }
        lastShown = .now
        Console.status("\r\u{1B}[K\(text())")
        isVisible = true
    }

    mutating func clear() {
        guard isVisible else { return }
        Console.status("\r\u{1B}[K")
        isVisible = false
    }
}

/// The progress of a node that copies its store, on any thread.
final class CopyProgress: Sendable {
    private let line = Mutex(ProgressLine())

    func show(_ objects: Int) { line.withLock { $0.show("\(counted(objects, "object")) copied") } }

    func clear() { line.withLock { $0.clear() } }
}
