import CGEOS

/// A valid multipolygon in the plane, prepared by GEOS for many questions.
///
/// GEOS builds its index with the first question: one thread at a time may ask.
final class PlanarPolygon {
    private let geometry: PlanarGeometry
    private let prepared: OpaquePointer

    /// - Parameter polygons: for each its rings, the shell first.
    /// - Throws: GEOS' reason why they make no valid multipolygon.
    init(_ polygons: [[UnwrappedRing]]) throws(InvalidPolygon) {
        let context = GEOSContext()
        var parts: [PlanarGeometry] = []
        for (polygon, rings) in polygons.enumerated() {
            parts.append(try Self.polygon(rings, polygon, context))
        }
        var pointers = parts.map { $0.release() as OpaquePointer? }
        geometry = PlanarGeometry(
            context,
            GEOSGeom_createCollection_r(
                context.handle, Int32(GEOS_MULTIPOLYGON.rawValue), &pointers,
                UInt32(pointers.count))!)
        if let reason = geometry.invalidity { throw InvalidPolygon(reason: reason) }
        prepared = GEOSPrepare_r(context.handle, geometry.pointer)!
    }

    deinit { GEOSPreparedGeom_destroy_r(geometry.context.handle, prepared) }

    /// Whether the point lies inside or on an edge.
    func contains(x: Double, y: Double) -> Bool {
        let answer = gb_geos_prepared_intersects_xy(geometry.context.handle, prepared, x, y)
        return geometry.context.truth(answer)
    }

    /// How much of the rectangle, a hair's breadth around it included, lies inside.
    func overlap(west: Double, south: Double, east: Double, north: Double) -> Overlap {
        let context = geometry.context
        let hair = 1e-9
        let rectangle = PlanarGeometry(
            context,
            GEOSGeom_createRectangle_r(
                context.handle, west - hair, south - hair, east + hair, north + hair)!)
        func holds(
            _ test: (OpaquePointer?, OpaquePointer?, OpaquePointer?) -> CChar
        ) -> Bool { context.truth(test(context.handle, prepared, rectangle.pointer)) }
        guard holds(GEOSPreparedIntersects_r) else { return .none }
        return holds(GEOSPreparedContainsProperly_r) ? .whole : .part
    }

    private static func polygon(
        _ rings: [UnwrappedRing], _ polygon: Int, _ context: GEOSContext
    ) throws(InvalidPolygon) -> PlanarGeometry {
        var parts: [PlanarGeometry] = []
        for (number, ring) in rings.enumerated() {
            var buffer: [Double] = []
            buffer.reserveCapacity(2 * ring.positions.count)
            for (longitude, position) in zip(ring.longitudes, ring.positions) {
                buffer += [longitude.degrees, position.latitude]
            }
            let sequence = GEOSCoordSeq_copyFromBuffer_r(
                context.handle, buffer, UInt32(ring.positions.count), 0, 0)
            // GEOS frees the sequence of a ring that it refuses.
            guard let pointer = GEOSGeom_createLinearRing_r(context.handle, sequence) else {
                throw InvalidPolygon(reason: context.fault, polygon: polygon, ring: number)
            }
            parts.append(PlanarGeometry(context, pointer))
        }
        var pointers = parts.map { $0.release() as OpaquePointer? }
        let shell = pointers.removeFirst()
        return PlanarGeometry(
            context,
            GEOSGeom_createPolygon_r(context.handle, shell, &pointers, UInt32(pointers.count))!)
    }
}

/// How much of something lies inside.
public enum Overlap: Sendable {
    case none, part, whole
}

/// A geometry of GEOS that frees itself.
private final class PlanarGeometry {
    let context: GEOSContext
    private var owned: OpaquePointer?

    init(_ context: GEOSContext, _ pointer: OpaquePointer) {
        self.context = context
        owned = pointer
    }

    deinit { if let owned { GEOSGeom_destroy_r(context.handle, owned) } }

    var pointer: OpaquePointer { owned! }

    /// Hands the geometry over to another one that will free it.
    func release() -> OpaquePointer {
        defer { owned = nil }
        return owned!
    }

    /// Why the geometry is not valid; nil when it is.
    var invalidity: String? {
        let handle = context.handle
        guard GEOSisValid_r(handle, pointer) != 1 else { return nil }
        guard let reason = GEOSisValidReason_r(handle, pointer) else { return context.fault }
        defer { GEOSFree_r(handle, reason) }
        return String(cString: reason)
    }
}

/// A context of GEOS' reentrant calls, and the last thing that went wrong in it.
private final class GEOSContext {
    let handle: OpaquePointer
    private(set) var fault = "an exception of GEOS"

    init() {
        handle = GEOS_init_r()!
        let handler: GEOSMessageHandler_r = { message, context in
            let context = Unmanaged<GEOSContext>.fromOpaque(context!).takeUnretainedValue()
            let text = message.map { String(cString: $0) } ?? ""
            // "IllegalArgumentException: Points of …": the kind of exception says no more.
            context.fault = text.split(separator: ": ", maxSplits: 1).last.map(String.init) ?? text
        }
        // The handler is called by calls on this handle alone, all of them while `self` lives.
        _ = GEOSContext_setErrorMessageHandler_r(
            handle, handler, Unmanaged.passUnretained(self).toOpaque())
    }

    deinit { GEOS_finish_r(handle) }

    /// GEOS' 0, 1 or, for an exception, 2.
    func truth(_ answer: CChar) -> Bool {
        precondition(answer != 2, "a predicate of GEOS failed: \(fault)")
        return answer == 1
    }
}
