/// A text as a part of a path or a query. Unreserved characters stand for themselves (RFC 3986, 2.3),
/// and so do `@`, `,` and `:`, which are clear in both.
public func percentEncoded(_ text: String) -> String {
    var encoded = ""
    for byte in text.utf8 {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."),
            UInt8(ascii: "_"), UInt8(ascii: "~"), UInt8(ascii: "@"), UInt8(ascii: ","),
            UInt8(ascii: ":"):
            encoded.unicodeScalars.append(Unicode.Scalar(byte))
        default:
            let digits = String(byte, radix: 16, uppercase: true)
            encoded += byte < 16 ? "%0\(digits)" : "%\(digits)"
        }
    }
    return encoded
}
