/// The dense number a bucket gives to an object.
public typealias Slot = UInt32

/// Some slots that whoever is given them may overwrite.
public typealias Slots = UnsafeMutableBufferPointer<Slot>

/// A text or another value in memory, valid as long as what it was asked of or a copy of that.
public typealias Bytes = UnsafeBufferPointer<UInt8>
