import CSimdjson

/// Why a text is not JSON, and the byte offset of the fault where the parser knows it.
public struct JSONSyntaxError: Error, Sendable, Equatable {
    public let message: String
    public let offset: Int?
}

/// Strict RFC 8259 parsing into a borrowed view.
///
///     let view = try parser.parse(line)          // view["method"]?.string
///
/// One parser serves one thread at a time and keeps its buffers between parses, so a parse
/// allocates nothing once they have grown. A view is valid until the next parse of its parser and
/// as long as that lives: hold the parser in a property, or use `reading`.
///
/// - Complexity: one pass of simdjson over the text and one over its tokens.
public final class JSONParser {
    /// Arrays and objects inside each other, at most.
    public static let maximumDepth = Int(gb_json_maximum_depth)

    private let parser: OpaquePointer

    public init() {
        guard let parser = gb_json_parser_create() else { fatalError("out of memory") }
        self.parser = parser
    }

    deinit { gb_json_parser_destroy(parser) }

    /// Parses one JSON text; numbers beyond binary64's range parse and are `JSONKind.huge`.
    public func parse(_ text: UnsafeBufferPointer<UInt8>) throws(JSONSyntaxError) -> JSONView {
        var offset: Int64 = -1
        let status = gb_json_parse(parser, text.baseAddress, text.count, &offset)
        guard status == gb_json_ok else {
            let place = status == gb_json_utf8 ? Self.firstNonUTF8(text) : Int(offset)
            throw JSONSyntaxError(
                message: Self.message(for: status), offset: place < 0 ? nil : place)
        }
        return JSONView(nodes: gb_json_nodes(parser), index: 0, source: gb_json_source(parser))
    }

    /// Parses one JSON text held in an array.
    public func parse(_ text: [UInt8]) throws(JSONSyntaxError) -> JSONView {
        var result: Result<JSONView, JSONSyntaxError>?
        text.withUnsafeBufferPointer { buffer in
            do throws(JSONSyntaxError) {
                result = .success(try parse(buffer))
            } catch {
                result = .failure(error)
            }
        }
        return try result!.get()
    }

    /// Parses a text with a parser of its own, which lives as long as `body` runs.
    public static func reading<Result>(
        _ text: [UInt8], _ body: (JSONView) throws -> Result
    ) throws -> Result {
        let parser = JSONParser()
        return try withExtendedLifetime(parser) { try body(try parser.parse(text)) }
    }

    /// Where a text ceases to be UTF-8, -1 where it does not.
    private static func firstNonUTF8(_ text: UnsafeBufferPointer<UInt8>) -> Int {
        do {
            _ = try UTF8Span(validating: text.span)
            return -1
        } catch {
            return error.byteOffsets.lowerBound
        }
    }

    private static func message(for status: gb_json_error) -> String {
        switch status {
        case gb_json_utf8: "the text is not valid UTF-8"
        case gb_json_depth: "the text is nested deeper than \(maximumDepth) levels"
        case gb_json_memory: "the text does not fit in memory"
        default: "the text is not valid JSON"
        }
    }
}
