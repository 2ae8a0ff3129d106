// What documents are made of belongs to this library's face.
@_exported import protocol JSONText.JSONConvertible
@_exported import struct JSONText.JSONMismatch
@_exported import enum JSONText.JSONNumber
@_exported import enum JSONText.JSONValue
