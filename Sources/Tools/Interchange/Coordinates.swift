import Geodesy

/// A position as people type it: `35.68,139.76`, latitude first, degrees.
public func parseCoordinate(_ text: String) throws(InterchangeError) -> Coordinate {
    let numbers = try parseNumbers(text, ["LAT", "LON"])
    let (latitude, longitude) = (numbers[0], numbers[1])
    if let position = Coordinate(validLatitude: latitude, longitude: longitude) { return position }
    if Coordinate(validLatitude: longitude, longitude: latitude) != nil {
        throw InterchangeError(
            "\"\(text)\": latitude \(latitude) is outside -90...90; the order is LAT,LON: perhaps "
                + "\(longitude),\(latitude)")
    }
    try checkDegrees(latitude, 90, "latitude", text)
    try checkDegrees(longitude, 180, "longitude", text)
    preconditionFailure("a coordinate in range is valid")
}

/// A box as people type it: `SOUTH,WEST,NORTH,EAST` in degrees; with `WEST` greater than `EAST`
/// it crosses the antimeridian.
public func parseBox(_ text: String) throws(InterchangeError) -> GeoBox {
    let numbers = try parseNumbers(text, ["SOUTH", "WEST", "NORTH", "EAST"])
    let (south, west, north, east) = (numbers[0], numbers[1], numbers[2], numbers[3])
    try checkDegrees(south, 90, "south", text)
    try checkDegrees(west, 180, "west", text)
    try checkDegrees(north, 90, "north", text)
    try checkDegrees(east, 180, "east", text)
    guard south <= north else {
        throw InterchangeError(
            "\"\(text)\": the corners are swapped: south \(south) lies north of north \(north); "
                + "the order is SOUTH,WEST,NORTH,EAST")
    }
    return GeoBox(south: south, west: west, north: north, east: east)
}

private func parseNumbers(
    _ text: String, _ names: [String]
) throws(InterchangeError) -> [Double] {
    let form = names.joined(separator: ",")
    let parts = text.split(separator: ",", omittingEmptySubsequences: false)
    guard parts.count == names.count else {
        throw InterchangeError(
            "\"\(text)\": expected \(names.count) numbers, \(form), found \(parts.count)")
    }
    var numbers: [Double] = []
    for (part, name) in zip(parts, names) {
        guard let number = parseDecimal(part.trimmingSpaces) else {
            throw InterchangeError(
                "\"\(text)\": \(name) \"\(part)\" is no number; expected \(form)")
        }
        numbers.append(number)
    }
    return numbers
}

private func checkDegrees(
    _ value: Double, _ bound: Double, _ name: String, _ text: String
) throws(InterchangeError) {
    guard abs(value) <= bound else {
        throw InterchangeError(
            "\"\(text)\": \(name) \(value) is outside -\(Int(bound))...\(Int(bound)) degrees")
    }
}
