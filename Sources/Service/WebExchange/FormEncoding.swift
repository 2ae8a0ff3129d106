import Synchronization

/// Reads percent-encoded text: paths, queries and forms (RFC 3986, 2.1; WHATWG URL, 5.1). Byte by byte,
/// since a stranger sends it.
enum FormEncoding {
    typealias Parameter = (name: String, value: String)

    /// The first parameters of a query or a form, decoded; one without a value has an empty one.
    static func parameters(_ text: [UInt8], atMost limit: Int) -> [Parameter] {
        var parameters: [Parameter] = []
        var rest = text[...]
        while !rest.isEmpty, parameters.count < limit {
            let part = rest.prefix { $0 != UInt8(ascii: "&") }
            rest = rest[part.endIndex...].dropFirst()
            guard !part.isEmpty else { continue }
            let name = part.prefix { $0 != UInt8(ascii: "=") }
            let value = part[name.endIndex...].dropFirst()
            parameters.append((decoded(name, isForm: true), decoded(value, isForm: true)))
        }
        return parameters
    }

    /// The text that is encoded; what is no percent-encoded UTF-8 stands for itself.
    ///
    /// - Parameter isForm: whether `+` stands for a blank.
    static func decoded(_ text: ArraySlice<UInt8>, isForm: Bool = false) -> String {
        let plain = isForm ? text.map { $0 == UInt8(ascii: "+") ? 0x20 : $0 } : Array(text)
        guard plain.contains(UInt8(ascii: "%")), let bytes = unescaped(plain),
            let decoded = String(validating: bytes, as: UTF8.self)
        else { return String(decoding: plain, as: UTF8.self) }
        return decoded
    }

    private static func unescaped(_ text: [UInt8]) -> [UInt8]? {
        var (bytes, rest) = ([UInt8](), text[...])
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard let high = rest.popFirst().flatMap(digit),
                let low = rest.popFirst().flatMap(digit)
            else { return nil }
            bytes.append(high << 4 | low)
        }
        return bytes
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}

/// The parameters of a query, which are read when somebody asks for them.
final class LazyParameters: Sendable {
    private let text: [UInt8]
    private let limit: Int
    private let parsed = Mutex<[FormEncoding.Parameter]?>(nil)

    init(_ text: [UInt8], atMost limit: Int) { (self.text, self.limit) = (text, limit) }

    var list: [FormEncoding.Parameter] {
        parsed.withLock { parsed in
            if let parsed { return parsed }
            let list = FormEncoding.parameters(text, atMost: limit)
            parsed = list
            return list
        }
    }
}
