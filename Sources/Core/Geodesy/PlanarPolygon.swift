import CGEOS

/// Whether polygons in the plane are a valid multipolygon, told by GEOS.
enum PlanarPolygon {
    /// - Parameter polygons: for each its rings, the shell first.
    /// - Throws: GEOS' reason why they make no valid multipolygon.
    static func validate(_ polygons: [[UnwrappedRing]]) throws(InvalidPolygon) {
        let context = GEOSContext()
        var parts: [PlanarGeometry] = []
        for (polygon, rings) in polygons.enumerated() {
            parts.append(try Self.polygon(rings, polygon, context))
        }
        var pointers = parts.map { $0.release() as OpaquePointer? }
        let geometry = PlanarGeometry(
            context,
            GEOSGeom_createCollection_r(
                context.handle, Int32(GEOS_MULTIPOLYGON.rawValue), &pointers,
                UInt32(pointers.count))!)
        if let reason = geometry.invalidity { throw InvalidPolygon(reason: reason) }
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
}
