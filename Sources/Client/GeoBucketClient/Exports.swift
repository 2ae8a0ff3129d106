// The types that documents are made of belong to this library's interface.
@_exported import protocol PlainJSON.JSONConvertible
@_exported import struct PlainJSON.JSONMismatch
@_exported import enum PlainJSON.JSONNumber
@_exported import enum PlainJSON.JSONValue
@_exported import enum Vocabulary.FieldType
