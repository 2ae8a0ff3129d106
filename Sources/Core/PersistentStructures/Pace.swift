/// Asks now and then whether work of many steps has to end. To ask at each step would cost too much.
///
///     while let step = next(), !pace.isOver({ clock.now > deadline }) { … }
public struct Pace: Sendable {
    @usableFromInline var steps = 0
    @usableFromInline var hasEnded = false

    /// The number of steps between two questions.
    @usableFromInline static let steps = 64

    /// Work that begins now.
    @inlinable
    public init() {}

    /// Whether the work is over before this step; once it is, it remains so.
    @inlinable
    @inline(__always)
    public mutating func isOver(_ asked: () -> Bool) -> Bool {
        steps &+= 1
        if steps & (Self.steps - 1) == 0, asked() { hasEnded = true }
        return hasEnded
    }
}
