import Foundation
import TestSupport
import Testing

/// Requests and their answers, as they go over the wire.
///
///     # A comment.
///     > GET /api/apps/myapp/buckets/people
///     > X-Kii-AppID: myapp
///     < 200
///     < Content-Type: application/vnd.kii.BucketRetrievalResponse+json
///     < {"bucketType":"rw","size":0}
///
/// A body is the one line that does not look like a field. An answer has the fields that stand here and
/// no others, besides those that every answer of the web port has. `{name}` in an answer stands for
/// any characters but quotes and spaces, and in what follows for the same ones.
struct Transcript {
    struct Exchange {
        var line: Int
        var method: String
        var path: String
        var fields: [String] = []
        var body: String?
        var status = 0
        var expectedFields: [String] = []
        var expectedBody = ""
    }

    private(set) var exchanges: [Exchange] = []
    private var names: [String: String]

    /// - Parameters:
    ///   - name: that of a file in `Transcripts`.
    ///   - names: what names stand for from the beginning.
    init(_ name: String, names: [String: String] = [:]) throws {
        self.names = names
        let file = Checkout.root.appending(
            path: "Tests/Service/KiiRESTTests/Transcripts/\(name).txt")
        let text = try String(contentsOf: file, encoding: .utf8)
        for (number, line) in zip(
            1..., text.split(separator: "\n", omittingEmptySubsequences: false))
        {
            guard let side = line.first, "<>".contains(side) else { continue }
            read(String(line.dropFirst(2)), isRequest: side == ">", number)
        }
    }

    private mutating func read(_ text: String, isRequest: Bool, _ number: Int) {
        if isRequest, let target = text.firstMatch(of: /^([A-Z]+) (\/\S*)$/) {
            exchanges.append(
                Exchange(line: number, method: String(target.1), path: String(target.2)))
            return
        }
        var exchange = exchanges.removeLast()
        let isField = text.wholeMatch(of: /[A-Za-z-]+: .*/) != nil
        switch (isRequest, isField) {
        case (true, true): exchange.fields.append(text)
        case (true, false): exchange.body = text
        case (false, true): exchange.expectedFields.append(text)
        case (false, false):
            if let status = Int(text) {
                exchange.status = status
            } else {
                exchange.expectedBody = text
            }
        }
        exchanges.append(exchange)
    }

    /// Sends all requests, one after the other, and compares.
    mutating func play(on port: Int, of name: String) async throws {
        for exchange in exchanges {
            let place: Comment = "\(name).txt:\(exchange.line)"
            let (path, fields) = (known(exchange.path), exchange.fields.map { known($0) })
            let body = exchange.body.map { known($0) }
            let answer = try await onBlockingThreads {
                try HTTPAnswer(
                    port: port, path: path, method: exchange.method, headers: fields, body: body,
                    keepsCase: true)
            }
            #expect(answer.status == exchange.status, place)
            let ownFields = answer.head.components(separatedBy: "\r\n").dropFirst().filter {
                field in
                !Self.common.contains { field.hasPrefix($0 + ":") }
            }
            let expected = exchange.expectedFields
            #expect(
                match(
                    ownFields.sorted().joined(separator: "\n"),
                    expected.sorted().joined(separator: "\n")),
                place)
            if exchange.method == "HEAD" {
                #expect(answer.body.isEmpty, place)
            } else {
                #expect(match(answer.body, exchange.expectedBody), place)
            }
        }
    }

    /// Fields of every answer of the web port.
    private static let common = [
        "Date", "Cache-Control", "Content-Security-Policy", "X-Content-Type-Options",
        "Referrer-Policy", "Cross-Origin-Resource-Policy", "Content-Length", "Connection", "Vary",
    ]

    private func known(_ text: String) -> String {
        names.reduce(text) { $0.replacing("{\($1.key)}", with: $1.value) }
    }

    /// Whether a text is what was expected; notes what new names stand for.
    private mutating func match(_ text: String, _ expected: String) -> Bool {
        let expected = known(expected)
        var pattern = ""
        var found: [String] = []
        var rest = expected[...]
        while let name = rest.firstMatch(of: /\{([a-z]+)\}/) {
            pattern += NSRegularExpression.escapedPattern(
                for: String(rest[..<name.range.lowerBound]))
            pattern += #"([^"\s]+)"#
            found.append(String(name.1))
            rest = rest[name.range.upperBound...]
        }
        pattern += NSRegularExpression.escapedPattern(for: String(rest))
        guard !found.isEmpty else {
            if text != expected { Issue.record("\(text)\nis not\n\(expected)") }
            return text == expected
        }
        guard let match = try? Regex("^" + pattern + "$").firstMatch(in: text) else {
            Issue.record("\(text)\nis not\n\(expected)")
            return false
        }
        for (name, group) in zip(found, match.output.dropFirst()) {
            names[name] = group.substring.map(String.init)
        }
        return true
    }
}
