/// The `Content-Security-Policy` of every answer: pages load nothing but what the port serves, and
/// the tiles of the base map.
enum ContentSecurityPolicy {
    static func text(for basemap: Basemap?) -> String {
        let origin = basemap?.origin.map { " " + $0 } ?? ""
        let images = basemap?.kind == .raster ? origin : ""
        let connections = basemap?.kind == .vector ? "connect-src 'self'\(origin); " : ""
        return "default-src 'self'; img-src 'self' data:\(images); \(connections)style-src 'self'; "
            + "object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
    }
}
