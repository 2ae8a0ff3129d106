import Logging

/// The seed of hash tables, which Swift chooses anew for each process.
enum HashSeed {
    /// What the hash of nothing is where `SWIFT_DETERMINISTIC_HASHING` has set the seed to 0.
    private static let unseeded = Int(bitPattern: 0xd1fb_a762_150c_532c)

    /// Warns if the seed is known to everybody, who could then choose names that collide.
    static func warnIfKnown(_ logger: Logger) {
        guard Hasher().finalize() == unseeded else { return }
        logger.warning(
            "hash tables have no seed of their own; unset SWIFT_DETERMINISTIC_HASHING, or clients can make names collide"
        )
    }
}
