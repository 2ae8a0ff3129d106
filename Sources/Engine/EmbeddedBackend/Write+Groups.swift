import BackendContract

extension Write {
    /// Whether the write has to see earlier writes through the engine.
    var needsPublished: Bool {
        switch self {
        case .deleteBucket, .deleteWhere: true
        default: false
        }
    }
}
