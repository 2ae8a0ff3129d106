import JSONText
import Objects

/// The places of records, as they are written into objects.
extension Mapper {
    /// What the fields of a place say.
    func read(
        _ place: Place, _ fields: RecordFields
    ) throws(RecordError) -> PlaceReader.Found {
        let values = place.paths.map { fields.value(at: $0) }
        do throws(RecordError) {
            return try places.read(place.rule, values)
        } catch {
            guard case .value(let path) = place.rule.source else { throw error }
            let paths = [path, error.path].compactMap { $0 }
            throw RecordError(error.message, path: paths.joined(separator: "."))
        }
    }

    func write(
        _ found: PlaceReader.Found, _ place: Place, _ fields: RecordFields,
        to output: inout Output
    ) throws(RecordError) {
        let paths = place.rule.paths
        try write(found, as: place.name, at: (paths[0], paths.last!), to: &output) {
            fields.value(at: place.paths[0])
        }
    }

    private func write(
        _ found: PlaceReader.Found, as name: [UInt8],
        at paths: (latitude: String, longitude: String),
        to output: inout Output,
        own: () -> JSONView?
    ) throws(RecordError) {
        switch found {
        case .nothing: return
        case .own:
            output.begin(name)
            output.writer.raw(own()!.text)
        case .point(let position, let system):
            let degrees = try degrees(position, system, paths)
            output.begin(name)
            output.point(position, degrees)
        case .points(let positions, let system):
            var all: [(PlaceReader.Position, (latitude: Double, longitude: Double)?)] = []
            for (index, position) in positions.enumerated() {
                let path = "\(paths.latitude)[\(index)]"
                all.append((position, try degrees(position, system, (path, path))))
            }
            output.begin(name)
            output.writer.byte(UInt8(ascii: "["))
            for (index, (position, degrees)) in all.enumerated() {
                if index > 0 { output.writer.byte(UInt8(ascii: ",")) }
                output.point(position, degrees)
            }
            output.writer.byte(UInt8(ascii: "]"))
        }
    }

    /// Degrees of a position of another system; nil for one that is in degrees as it stands.
    private func degrees(
        _ position: PlaceReader.Position, _ system: ReferenceSystem?,
        _ paths: (latitude: String, longitude: String)
    ) throws(RecordError) -> (latitude: Double, longitude: Double)? {
        let system = system ?? mapping.crs ?? .degrees
        let found = system.degrees(x: position.x, y: position.y)
        for (degrees, bound, name, path) in [
            (found?.longitude, 180.0, "longitude", paths.longitude),
            (found?.latitude, 90.0, "latitude", paths.latitude),
        ] {
            guard let degrees, abs(degrees) <= bound else {
                let text = degrees.map { "\($0)" } ?? "\(position.x), \(position.y)"
                throw RecordError(
                    "\(name) \(text) is outside -\(Int(bound))...\(Int(bound)) degrees", path: path)
            }
        }
        return system == .degrees ? nil : found
    }

    /// Writes the place of a feature's geometry, unless a rule has read it.
    func writeGeometry(
        _ fields: RecordFields, to output: inout Output
    ) throws(RecordError) {
        guard let geometry = fields.geometry,
            !readers.contains(where: { $0.rule.paths == ["geometry"] })
        else { return }
        let found: PlaceReader.Found
        do throws(RecordError) {
            guard
                geometry.kind == .array || geometry["type"]?.string != nil
                    || fields.wrapper == .element
            else { throw RecordError("expected a geometry or null") }
            found = try places.value(geometry)
        } catch {
            throw RecordError(
                error.message, path: error.path.map { "geometry.\($0)" } ?? "geometry")
        }
        let name = Array(mapping.pointField.utf8)
        let taken = name.withUnsafeBufferPointer { fields.inner?.member($0) }
        // `FeatureWriter` keeps an array that holds more than points; the geometry says less.
        if let taken, taken.kind == .array, !GeoPoint.coordinates(of: taken).isEmpty { return }
        guard taken == nil || !output.hasPointField else {
            throw RecordError(
                "the property \(quoted(mapping.pointField)) has the name of the point field; "
                    + "--point NAME names another, --rename the property", path: "properties")
        }
        let path = "geometry.coordinates"
        try write(found, as: name, at: (path, path), to: &output) { geometry }
        if case .point(let position, _) = found, let altitude = position.altitude,
            fields.inner?["altitude"] == nil
        {
            output.begin(Array("altitude".utf8))
            output.writer.raw(altitude)
        }
    }
}
