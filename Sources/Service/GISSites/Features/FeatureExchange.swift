import HTTPTypes
import JSONText
import Objects
import ServiceDesk
import WebExchange
import Wire

/// One request with its route and its caller.
struct FeatureExchange: Sendable {
    let site: FeaturesSite
    let request: WebRequest
    let caller: Caller
    let route: Route
    /// What stands in the path's places: `collectionId`, `featureId`.
    let arguments: [String: String]

    init(
        site: FeaturesSite, request: WebRequest, caller: Caller, route: Route,
        arguments: [String: String]
    ) {
        (self.site, self.request, self.caller) = (site, request, caller)
        (self.route, self.arguments) = (route, arguments)
    }

    /// The address of a path below `/ogc`.
    func address(_ path: String = "") -> String { request.base + "/ogc" + path }

    /// The address of a collection, or of a path below it.
    func address(of collection: CollectionName, _ path: String = "") -> String {
        address("/collections/\(percentEncoded(collection.text))\(path)")
    }

    /// The address of this request, with a parameter set to another value.
    func ownAddress(with parameter: (name: String, value: String)? = nil) -> String {
        var query = request.query
        if let parameter {
            query.removeAll { $0.name == parameter.name }
            query.append(parameter)
        }
        let path = request.path.filter { !$0.isEmpty }.map { "/" + percentEncoded($0) }.joined()
        let text = query.map { "\(percentEncoded($0.name))=\(percentEncoded($0.value))" }
        return request.base + path + (text.isEmpty ? "" : "?" + text.joined(separator: "&"))
    }

    /// Refuses parameters that the route does not take, and those that are given twice.
    func checkParameters() throws(WebFailure) {
        try request.checkParameterCount()
        var seen: Set<String> = []
        for (name, _) in request.query {
            guard seen.insert(name).inserted else {
                throw .invalid("the parameter is given twice", at: shortened(name))
            }
            guard route.takesProperties || route.parameters.contains(where: { $0.name == name })
            else { throw Self.unknownParameter(name) }
        }
    }

    static func unknownParameter(_ name: String) -> WebFailure {
        .invalid("there is no parameter \(quoted(name))", at: shortened(name))
    }

    /// The collection that the path names.
    func collectionName() throws(WebFailure) -> CollectionName {
        do throws(WebFailure) {
            return try CollectionName(arguments["collectionId"] ?? "")
        } catch {
            throw .noSuchCollection
        }
    }

    /// Whether the client asks for plain JSON, and for no other type of it by name.
    func asksForPlainJSON(insteadOf type: String) -> Bool {
        let accept = (request.headers[.accept] ?? "").lowercased()
        return accept.contains("application/json") && !accept.contains(type)
            && !accept.contains("*/*")
    }
}

extension JSONValue {
    /// A link of OGC API's documents.
    static func link(_ relation: String, _ type: String, _ title: String, _ address: String)
        -> JSONValue
    {
        .object([
            "href": .string(address), "rel": .string(relation), "type": .string(type),
            "title": .string(title),
        ])
    }
}
