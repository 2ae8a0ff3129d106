/// How far a store is from having no free pages.
public struct CompactionState: Sendable, Equatable {
    /// The pages of the file that hold nothing, of 4 KiB each.
    public var freePages: Int
    /// The bytes of the file and its log.
    public var storeBytes: Int

    /// Stores its arguments.
    public init(freePages: Int, storeBytes: Int) {
        (self.freePages, self.storeBytes) = (freePages, storeBytes)
    }
}
