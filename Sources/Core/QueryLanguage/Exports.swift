// A name that clients use too.
@_exported import enum Vocabulary.FieldType
