/// The store-wide, increasing number of a change.
public typealias ChangeNumber = UInt64
