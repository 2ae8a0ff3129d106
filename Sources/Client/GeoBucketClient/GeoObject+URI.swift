extension GeoObject {
    /// `geobucket://buckets/shops/objects/ID`, or with a scope
    /// `geobucket://users/alice/buckets/notes/objects/ID`; nil before the first save.
    public var objectURI: String? {
        guard let id = uuid else { return nil }
        let parts = bucket.name.split(separator: "/")
        let scope = parts.dropLast().map { "\($0)/" }.joined()
        return "\(Self.scheme)://\(scope)buckets/\(parts.last ?? "")/objects/\(id)"
    }

    private static let scheme = "geobucket"

    /// The object that an `objectURI` names, whether it exists or not; nil for a text that is not
    /// such a URI.
    ///
    /// URIs that old apps stored, `kiicloud://buckets/…`, name the object of the same bucket and
    /// id.
    public convenience init?(uri: String, client: ServiceClient) {
        guard
            let match = uri.wholeMatch(
                of:
                    /(?:geobucket|kiicloud):\/\/((?:users|groups|things)\/[^\/]+\/)?buckets\/([^\/]+)\/objects\/([^\/]+)/
            )
        else { return nil }
        self.init(client.bucket("\(match.1 ?? "")\(match.2)"), id: String(match.3))
    }
}
