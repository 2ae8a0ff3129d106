import PlainJSON

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// JSON inside models of any coder. Our coders keep it as it is. Others do not keep the order of an
/// object's members, so these come sorted by name.
extension JSONValue: Codable {
    public init(from decoder: any Decoder) throws {
        if let container = try? decoder.container(keyedBy: Name.self) {
            let names = container.allKeys.sorted { $0.stringValue < $1.stringValue }
            self = .object(
                try names.map {
                    Member($0.stringValue, try container.decode(Self.self, forKey: $0))
                })
        } else if var container = try? decoder.unkeyedContainer() {
            var elements: [JSONValue] = []
            while !container.isAtEnd { elements.append(try container.decode(Self.self)) }
            self = .array(elements)
        } else {
            try self.init(scalar: try decoder.singleValueContainer())
        }
    }

    private init(scalar container: any SingleValueDecodingContainer) throws {
        if container.decodeNil() {
            self = .null
        } else if let bool = try? container.decode(Bool.self) {
            self = .bool(bool)
        } else if let integer = try? container.decode(Int64.self) {
            self = .number(.integer(integer))
        } else if let integer = try? container.decode(UInt64.self) {
            self = .number(.unsigned(integer))
        } else if let double = try? container.decode(Double.self) {
            let digits = try? container.decode(Decimal.self).jsonValue
            self = try digits ?? double.jsonValue
        } else {
            self = .string(try container.decode(String.self))
        }
    }

    public func encode(to encoder: any Encoder) throws {
        switch self {
        case .object(let members):
            var container = encoder.container(keyedBy: Name.self)
            for member in members {
                try container.encode(member.value, forKey: Name(stringValue: member.name))
            }
        case .array(let elements):
            var container = encoder.unkeyedContainer()
            for element in elements { try container.encode(element) }
        default:
            var container = encoder.singleValueContainer()
            try encodeScalar(to: &container)
        }
    }

    private func encodeScalar(to container: inout any SingleValueEncodingContainer) throws {
        switch self {
        case .bool(let bool): try container.encode(bool)
        case .number(.integer(let integer)): try container.encode(integer)
        case .number(.unsigned(let integer)): try container.encode(integer)
        case .number(.decimal(let double)): try container.encode(double)
        case .digits: try container.encode(Decimal(jsonValue: self))
        case .string(let text): try container.encode(text)
        case .null, .array, .object: try container.encodeNil()
        }
    }

    private struct Name: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { return nil }
    }
}
