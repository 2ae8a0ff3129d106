// What clients know of the wire too.
@_exported import Wire
