import Foundation

/// Lines through and past some places: of one edge and of many, short and long, that cross
/// themselves, turn back and stand still, over poles and the antimeridian; never from a place to its
/// antipode.
public struct LineGenerator {
    public typealias Position = (latitude: Double, longitude: Double)

    private let positions: [Position]

    public init(positions: [Position]) { self.positions = positions }

    public func line(_ random: inout SplitMix64) -> [Position] {
        var line = [random.pick(positions)]
        let count = random.oneIn(3) ? 2 : 2 + random.below(random.oneIn(4) ? 60 : 6)
        let step = random.pick([1e-8, 0.001, 0.3, 20])
        while line.count < count {
            let next = next(line, step, &random)
            if !Self.areAntipodes(line.last!, next) { line.append(next) }
        }
        return line
    }

    /// A line of some hundred to some thousand positions: smooth, ragged, or the same places again
    /// and again.
    public func longLine(_ random: inout SplitMix64) -> [Position] {
        let count = random.pick([17, 257, 300, 1_000, 4_097])
        let step = random.pick([1e-7, 0.001, 0.05, 2])
        let isSmooth = random.oneIn(2)
        var line = [random.pick(positions)]
        var heading = random.number(-4...4)
        while line.count < count {
            heading = isSmooth ? heading + random.number(-0.2...0.2) : random.number(-4...4)
            var next = self.next(line, step, &random)
            if !random.oneIn(200) {
                let last = line.last!
                let longitude = last.longitude + step * sin(heading)
                next = (
                    min(90, max(-90, last.latitude + step * cos(heading))),
                    longitude > 180
                        ? longitude - 360 : (longitude < -180 ? longitude + 360 : longitude)
                )
            }
            if !Self.areAntipodes(line.last!, next) { line.append(next) }
        }
        return line
    }

    private func next(
        _ line: [Position], _ step: Double, _ random: inout SplitMix64
    ) -> Position {
        let last = line.last!
        switch random.below(8) {
        case 0: return random.pick(positions)
        case 1: return random.pick(line)
        case 2: return last
        case 3: return (last.latitude, abs(last.longitude) == 180 ? -last.longitude : 180)
        default:
            let latitude = last.latitude + step * random.number(-1...1)
            let longitude = last.longitude + step * random.number(-1...1)
            return (
                min(90, max(-90, latitude)),
                longitude > 180
                    ? longitude - 360 : (longitude < -180 ? longitude + 360 : longitude)
            )
        }
    }

    private static func areAntipodes(_ a: Position, _ b: Position) -> Bool {
        let isOpposite = abs(abs(a.longitude - b.longitude) - 180) < 0.1
        return abs(a.latitude + b.latitude) < 0.1 && (isOpposite || abs(a.latitude) > 89.9)
    }

    /// GeoJSON.
    public static func geometry(_ line: [Position]) -> JSONValue {
        .object([
            "type": .string("LineString"),
            "coordinates": .array(
                line.map { .array([.double($0.longitude), .double($0.latitude)]) }),
        ])
    }
}
