import JSONText
import Objects
import QueryLanguage

/// The parameters by which paths of the web port ask for objects.
extension WebRequest {
    /// Refuses parameters that a path does not take, or that stand twice.
    public func check(_ known: Set<String>) throws(WebFailure) {
        try checkParameterCount()
        var seen: Set<String> = []
        for (name, _) in query {
            guard known.contains(name) else {
                let names = known.sorted().joined(separator: ", ")
                throw .invalid("there is no such parameter; there are \(names)", at: name)
            }
            guard seen.insert(name).inserted else {
                throw .invalid("the parameter stands here twice", at: name)
            }
        }
    }

    /// The JSON of a `bucketQuery`: that of `query`, or the clause of `filter`; nil without either.
    ///
    /// - Throws: 400 for a text that is neither, and for both at once.
    public func bucketQuery() throws(WebFailure) -> [UInt8]? {
        switch (self["query"], self["filter"]) {
        case (nil, nil): return nil
        case (_?, _?): throw .invalid("give either query or filter", at: "filter")
        case (let query?, nil):
            let isObject = try? JSONParser.reading(Array(query.utf8)) { $0.kind == .object }
            guard isObject == true else {
                throw .invalid("expected a JSON object", at: "query")
            }
            return Array(query.utf8)
        case (nil, let filter?):
            do throws(FilterSyntaxError) {
                let clause = try FilterExpression.parse(filter)
                return Array(#"{"clause":\#(clause.json)}"#.utf8)
            } catch {
                throw .invalid(error.description, at: "filter")
            }
        }
    }

    /// The paths in `fields`; nil without it.
    public var fields: [String]? {
        self["fields"].map { $0.split(separator: ",").map(String.init) }
    }
}
