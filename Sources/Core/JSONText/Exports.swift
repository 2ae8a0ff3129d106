// All of JSON for who need not do without simdjson.
@_exported import PlainJSON
