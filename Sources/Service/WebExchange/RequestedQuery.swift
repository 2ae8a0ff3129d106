import JSONText
import Objects
import QueryLanguage
import ServiceDesk

/// The languages of a request's `filter`, as `filter-lang` names them.
public enum FilterLanguage: String, CaseIterable, Sendable {
    /// OGC's Common Query Language.
    case cql2 = "cql2-text"
    /// The same by the draft's name, which GDAL 3.6 knows.
    case cql = "cql-text"
    /// The expressions of `geobucket query --where`.
    case expression
}

/// Which objects a request asks for, by `filter` or `query`.
public enum RequestedQuery: Sendable {
    /// All.
    case all
    /// Those of a `bucketQuery`, as JSON text.
    case json([UInt8])
    /// Those that satisfy a clause.
    case clause(Clause)
    /// Those that satisfy a filter in CQL2, whose meaning depends on the fields that the objects have.
    case cql2(String)
}

extension WebRequest {
    /// The language of `filter`.
    ///
    /// - Parameter usual: that of a request that names none.
    public func filterLanguage(or usual: FilterLanguage) throws(WebFailure) -> FilterLanguage {
        guard let name = self["filter-lang"] else { return usual }
        guard let language = FilterLanguage(rawValue: name) else {
            let names = FilterLanguage.allCases.map(\.rawValue).joined(separator: ", ")
            throw .invalid("the language of a filter is one of \(names)", at: "filter-lang")
        }
        return language
    }

    /// What `query` or `filter` asks for; a filter is an expression unless `filter-lang` says CQL2.
    ///
    /// - Throws: 400 for a text that is neither, and for both at once.
    public func requestedQuery() throws(WebFailure) -> RequestedQuery {
        let language = try filterLanguage(or: .expression)
        switch (self["query"], self["filter"]) {
        case (nil, nil): return .all
        case (_?, _?): throw .invalid("give either query or filter", at: "filter")
        case (let query?, nil):
            let isObject = try? JSONParser.reading(Array(query.utf8)) { $0.kind == .object }
            guard isObject == true else {
                throw .invalid("expected a JSON object", at: "query")
            }
            return .json(Array(query.utf8))
        case (nil, let filter?):
            guard language == .expression else { return .cql2(filter) }
            return .clause(try Self.expression(filter))
        }
    }

    /// The clause of a filter expression.
    ///
    /// - Throws: 400 for the parameter `filter`.
    public static func expression(_ filter: String) throws(WebFailure) -> Clause {
        do throws(FilterSyntaxError) {
            return try FilterExpression.parse(filter)
        } catch {
            throw .invalid(error.description, at: "filter")
        }
    }
}

extension Catalog {
    /// The clause of a query about a collection. The collection need not exist yet.
    ///
    /// - Throws: 400 for the parameter `query` or `filter`.
    public func clause(
        _ query: RequestedQuery, of collection: CollectionName, for caller: Caller
    ) async throws(WebFailure) -> Clause {
        let limits = operations.limits
        switch query {
        case .all: return .all
        case .json(let text):
            return try WebFailure.reading(query: text) {
                view throws(ServiceFailure) in
                try QueryParser(limits: limits).clause(of: view)
            }
        case .clause(let clause): return try clause.checked(limits)
        case .cql2(let text):
            let geoFields = try await operations.geoFields(of: collection.bucket, for: caller)
            func clause(_ fields: [SurveyedField]) throws(WebFailure) -> Clause {
                let geoField = collection.field ?? geoFields.place ?? FieldPath("geometry")
                return try CollectionShape(
                    geoField: geoField, geoFields: geoFields.all, fields: fields
                ).clause(cql2: text, limits)
            }
            let plain = try clause([]).checked(limits)
            // The bucket is surveyed only if that may tell numbers from booleans.
            guard plain.comparesWithBits else { return plain }
            return try clause(await fields(of: collection.bucket, for: caller))
        }
    }
}

extension Clause {
    /// The clause itself.
    ///
    /// - Throws: 400 for the parameter `filter` if it is beyond the limits.
    public func checked(_ limits: Limits) throws(WebFailure) -> Clause {
        do throws(ServiceFailure) {
            try checkBounds(limits)
            return self
        } catch {
            throw WebFailure(error.inside("filter"))
        }
    }
}

extension WebFailure {
    /// Reads the parameter `query`.
    ///
    /// - Parameter path: what paths of failures begin with.
    public static func reading<Value>(
        query text: [UInt8], at path: String = "query",
        _ body: (JSONView) throws(ServiceFailure) -> Value
    ) throws(WebFailure) -> Value {
        do throws(ServiceFailure) {
            let parser = JSONParser()
            defer { withExtendedLifetime(parser) {} }
            guard let view = try? parser.parse(text) else {
                throw ServiceFailure(.invalidInputData, "expected a JSON object")
            }
            return try body(view)
        } catch {
            throw WebFailure(error.inside(path))
        }
    }
}
