/// The paths of objects, to tell which other paths lead into one of them. O(length) for each path.
public struct ObjectPaths: Sendable {
    /// By a hash; what has the same is compared.
    private var paths: [Int: [UInt8]] = [:]

    private static let start = Hasher().finalize()

    /// The objects at some paths.
    public init(_ objects: some Sequence<String>) {
        for object in objects {
            let path = Array(object.utf8)
            paths[path.reduce(Self.start, Self.hash)] = path
        }
    }

    /// Whether a path leads into an object: what stands before a dot is either a name's beginning or
    /// an object.
    public func contain(_ path: String) -> Bool {
        var hash = Self.start
        let bytes = Array(path.utf8)
        for byte in bytes {
            if byte == UInt8(ascii: "."), let object = paths[hash], bytes.starts(with: object) {
                return true
            }
            hash = Self.hash(hash, byte)
        }
        return false
    }

    private static func hash(_ hash: Int, _ byte: UInt8) -> Int {
        (hash ^ Int(byte)) &* 0x100_0000_01B3
    }
}
