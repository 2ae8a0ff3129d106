import Objects
import TestSupport

/// Places on a meridian, by their distance from the equator in metres, as JSON.
enum Meridian {
    /// An object that is there.
    static func object(_ meters: Double) -> String { #"{"location":\#(point(meters))}"# }

    static func point(_ meters: Double) -> String {
        // A metre is so many degrees of a meridian.
        #"{"_type":"point","lat":\#(meters / 111_194.9266),"lon":0}"#
    }

    static let origin = point(0)

    /// A clause of a circle.
    static func circle(_ center: String, _ radius: Int) -> String {
        #"{"type":"geodistance","field":"location","center":\#(center),"radius":\#(radius)}"#
    }

    /// A centre that follows the location of an object.
    static func follower(of id: String, in bucket: String) -> String {
        #"{"_type":"object","bucket":"\#(bucket)","_id":"\#(id)","field":"location"}"#
    }
}

extension WatchWorld {
    /// Runs `body` with a world of its own, on a thread that it may block.
    static func with(
        seed: UInt64 = 1, limits: Limits = Limits(), _ body: @Sendable (WatchWorld) throws -> Void
    ) async throws {
        try await withTemporaryFolder { folder in
            try await onBlockingThreads {
                let world = try WatchWorld(
                    .embedded, folder + "/store.sqlite", seed: seed, limits: limits)
                defer { try? world.close() }
                try body(world)
            }
        }
    }
}
