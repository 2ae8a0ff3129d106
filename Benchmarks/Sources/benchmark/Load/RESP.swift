/// Redis' protocol: requests, and values of answers.
enum RESP {
    indirect enum Value {
        case text(String)
        case number(Int)
        case list([Value])
        case none
    }

    /// A request: an array of strings.
    static func request(_ parts: [String]) -> [UInt8] {
        var bytes = Array("*\(parts.count)\r\n".utf8)
        for part in parts { bytes += Array("$\(part.utf8.count)\r\n\(part)\r\n".utf8) }
        return bytes
    }

    static func number(_ digits: Slice<UnsafeRawBufferPointer>) -> Int {
        var value = 0
        var sign = 1
        for digit in digits {
            if digit == UInt8(ascii: "-") {
                sign = -1
            } else {
                value = value * 10 + Int(digit - UInt8(ascii: "0"))
            }
        }
        return sign * value
    }

    /// The value that a whole answer is.
    static func value(_ bytes: [UInt8]) throws -> Value {
        var rest = bytes[...]
        return try value(&rest)
    }

    private static func value(_ rest: inout ArraySlice<UInt8>) throws -> Value {
        guard let kind = rest.first, let end = rest.firstIndex(of: 0x0D) else {
            throw Failure("redis answered half a value")
        }
        let head = String(decoding: rest[(rest.startIndex + 1)..<end], as: UTF8.self)
        rest = rest[(end + 2)...]
        switch kind {
        case UInt8(ascii: "*"):
            return .list(try (0..<max(0, Int(head)!)).map { _ in try value(&rest) })
        case UInt8(ascii: "$"):
            guard let count = Int(head), count >= 0 else { return .none }
            defer { rest = rest.dropFirst(count + 2) }
            return .text(String(decoding: rest.prefix(count), as: UTF8.self))
        case UInt8(ascii: ":"): return .number(Int(head)!)
        case UInt8(ascii: "-"): throw Failure("redis: \(head)")
        default: return .text(head)
        }
    }
}
