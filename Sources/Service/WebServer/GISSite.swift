import WebExchange

// The part of the web port that maps and GIS programs use, which the package trait GIS adds.

#if GIS
    import GISSites

    /// The paths below `/tiles` and `/ogc`.
    struct GISSite: Sendable {
        static let isIncluded = true
        private let tiles: TileSite
        private let features: FeaturesSite

        /// - Parameter now: milliseconds since 1970.
        init(
            operations: some WebOperations, catalog: Catalog, now: @escaping @Sendable () -> Int64
        ) {
            tiles = TileSite(operations: operations, catalog: catalog)
            features = FeaturesSite(operations: operations, catalog: catalog, now: now)
        }

        func answer(_ request: WebRequest) async throws(WebFailure) -> WebAnswer {
            if request.path.first == "tiles" { return try await tiles.answer(request) }
            return try await features.answer(request)
        }
    }
#else
    /// A build without the trait has nothing at these paths, and says so.
    struct GISSite: Sendable {
        static let isIncluded = false

        init(
            operations: some WebOperations, catalog: Catalog, now: @escaping @Sendable () -> Int64
        ) {}

        func answer(_ request: WebRequest) async throws(WebFailure) -> WebAnswer {
            throw WebFailure(
                .notImplemented, "NOT_IMPLEMENTED",
                "this program was built without GIS, which vector tiles and the OGC API need; "
                    + "`swift build -c release --product geobucket` builds one with it")
        }
    }
#endif
