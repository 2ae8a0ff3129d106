/// A value behind one reference, which its copies share until one of them is written.
///
///     var index = Shared(Parts())
///     let snapshot = index            // counts one reference, whatever the parts refer to
///     index.value.count += 1          // copies the parts; snapshot.value.count is still 0
///
/// A value of many references is passed on at the price of one. It takes one allocation.
///
/// `@unchecked Sendable`: the value is written only if one copy alone refers to it. A shared value is
/// only read.
public struct Shared<Value: Sendable>: @unchecked Sendable {
    @usableFromInline
    var storage: Storage

    /// Elements of a buffer are read without a check that nobody writes them meanwhile.
    @usableFromInline
    final class Storage: ManagedBuffer<Void, Value> {
        @inlinable
        static func make(_ value: Value) -> Storage {
            let storage = unsafeDowncast(create(minimumCapacity: 1) { _ in }, to: Storage.self)
            storage.address.initialize(to: value)
            return storage
        }

        @inlinable
        var address: UnsafeMutablePointer<Value> { withUnsafeMutablePointerToElements { $0 } }

        @inlinable
        deinit { address.deinitialize(count: 1) }
    }

    /// A value that nothing else refers to yet.
    @inlinable
    public init(_ value: Value) { storage = .make(value) }

    /// The value. A write copies it first if another copy shares it.
    @inlinable
    public var value: Value {
        @inline(__always)
        _read { yield storage.address.pointee }
        @inline(__always)
        _modify {
            if !isKnownUniquelyReferenced(&storage) { storage = .make(storage.address.pointee) }
            yield &storage.address.pointee
        }
    }
}
