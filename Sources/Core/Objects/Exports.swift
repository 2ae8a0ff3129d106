// Names that clients use too.
@_exported import enum Vocabulary.FieldType
@_exported import enum Vocabulary.PredefinedField
@_exported import struct Vocabulary.ServiceFailure
@_exported import func Vocabulary.nearestName
