/// The dense number that a bucket assigns to an object.
public typealias Slot = UInt32

/// A buffer of slots that its receiver may overwrite.
public typealias Slots = UnsafeMutableBufferPointer<Slot>

/// The bytes of a text or another value, valid as long as the value that returned them or a copy of
/// it.
public typealias Bytes = UnsafeBufferPointer<UInt8>
