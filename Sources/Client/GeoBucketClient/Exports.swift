// What documents are made of belongs to this library's face.
@_exported import protocol PlainJSON.JSONConvertible
@_exported import struct PlainJSON.JSONMismatch
@_exported import enum PlainJSON.JSONNumber
@_exported import enum PlainJSON.JSONValue
