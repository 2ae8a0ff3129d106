import Geodesy
import Glibc
import JSONText
import Objects
import SyntheticData

/// Places of real cities and postcodes, from a folder of data that is not part of the project.
public enum RealPlaces {
    /// `cities/cities500.ndjson.gz`: one object a line, a GeoPoint in `location`.
    public static func cities(folder: String) -> [MicroPoint]? {
        let parser = JSONParser()
        return positions(in: "\(folder)/cities/cities500.ndjson.gz") { line in
            guard let location = try? parser.parse(line)["location"] else { return nil }
            return GeoPoint.coordinate(of: location)
        }
    }

    /// `postcodes/postcodes.csv.gz`: latitude and longitude are the last two columns.
    public static func postcodes(folder: String) -> [MicroPoint]? {
        positions(in: "\(folder)/postcodes/postcodes.csv.gz") { line in
            let cells = String(decoding: line, as: UTF8.self).split(separator: ",").suffix(2)
            guard cells.count == 2, let latitude = Double(cells.first!),
                let longitude = Double(cells.last!)
            else { return nil }  // the header
            return Coordinate(validLatitude: latitude, longitude: longitude)
        }
    }

    /// The places of a file's lines, nil when there is no such file.
    private static func positions(
        in path: String, _ position: ([UInt8]) -> Coordinate?
    ) -> [MicroPoint]? {
        guard access(path, R_OK) == 0, let pipe = popen("gzip -dc '\(path)'", "r") else {
            return nil
        }
        defer { pclose(pipe) }
        var line: UnsafeMutablePointer<CChar>?
        var capacity = 0
        defer { free(line) }
        var positions: [MicroPoint] = []
        while case let count = getline(&line, &capacity, pipe), count > 0 {
            let bytes = UnsafeRawBufferPointer(start: line, count: count)
            var trimmed = Array(bytes)
            while trimmed.last == 0x0A || trimmed.last == 0x0D { trimmed.removeLast() }
            // Objects beyond 85 degrees cannot be put into every peer.
            guard let found = position(trimmed), abs(found.latitude) <= 85 else { continue }
            positions.append(MicroPoint(latitude: found.latitude, longitude: found.longitude))
        }
        return positions
    }
}
