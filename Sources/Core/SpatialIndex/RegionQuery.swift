import Geodesy

/// A question about the points of a region, compiled for each kind of region.
///
/// Asked about a shape, it is the one place where the kinds are told apart, once for a whole search.
protocol RegionQuery {
    /// What `body` is called with as it is found.
    associatedtype Part

    associatedtype Answer

    /// - Parameter body: returns false to end the search.
    func answer<R: Region>(
        _ region: R, of index: PointIndex, _ body: (Part) -> Bool
    ) -> Answer
}

extension RegionQuery {
    @inline(__always)
    func answer(
        _ shape: GeoShape, of index: PointIndex, _ body: (Part) -> Bool
    ) -> Answer {
        switch shape {
        case .box(let box): answer(BoxRegion(box), of: index, body)
        case .polygon(let polygon): answer(PolygonRegion(polygon), of: index, body)
        case .circle(let circle): answer(CircleRegion(circle), of: index, body)
        }
    }
}

extension RegionQuery where Part == Void {
    @inline(__always)
    func answer(_ shape: GeoShape, of index: PointIndex) -> Answer {
        answer(shape, of: index) { _ in true }
    }
}
