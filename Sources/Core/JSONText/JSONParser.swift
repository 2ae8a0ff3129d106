import CSimdjson
import PlainJSON

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
    private let parser: OpaquePointer

    /// A parser without buffers, which grow with the texts that it parses.
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
            throw Self.error(status, text, at: offset < 0 ? nil : Int(offset))
        }
        return JSONView(root: gb_json_nodes(parser), source: gb_json_source(parser))
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

    /// The memory of the buffers that the parser keeps.
    var bufferBytes: Int { gb_json_buffer_bytes(parser) }

    private static func error(
        _ status: gb_json_error, _ text: UnsafeBufferPointer<UInt8>, at offset: Int?
    ) -> JSONSyntaxError {
        switch status {
        case gb_json_utf8: .notUTF8(at: firstNonUTF8(text))
        case gb_json_depth: .tooDeep(at: offset)
        case gb_json_memory: .tooLarge
        default: .notJSON(at: offset)
        }
    }

    /// Where a text ceases to be UTF-8, nil where it does not.
    private static func firstNonUTF8(_ text: UnsafeBufferPointer<UInt8>) -> Int? {
        do {
            _ = try UTF8Span(validating: text.span)
            return nil
        } catch {
            return error.byteOffsets.lowerBound
        }
    }
}
