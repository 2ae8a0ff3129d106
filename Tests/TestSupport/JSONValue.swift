// What tests look answers up in and build documents from.
@_exported import enum JSONText.JSONValue
