// The part of the protocol that clients share.
@_exported import Wire
