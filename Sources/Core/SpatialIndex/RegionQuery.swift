import Geodesy

/// A query for the points of a region, specialised for each kind of region.
///
/// For shapes, this is the only place that distinguishes the kinds, once for a whole search.
protocol RegionQuery {
    /// The argument of `body`, which is called as points are found.
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
        case .corridor(let corridor): answer(CorridorRegion(corridor), of: index, body)
        }
    }
}

extension RegionQuery where Part == Void {
    @inline(__always)
    func answer(_ shape: GeoShape, of index: PointIndex) -> Answer {
        answer(shape, of: index) { _ in true }
    }
}
