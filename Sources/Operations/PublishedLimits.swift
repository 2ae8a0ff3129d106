import Objects

extension Limits {
    /// The limits that clients have to know, by their names on the wire.
    var published: [(name: String, value: Int)] {
        [
            ("lineBytes", lineBytes), ("replyBytes", replyBytes), ("objectBytes", objectBytes),
            ("objectDepth", objectDepth), ("pageObjects", pageObjects),
            ("batchRequests", batchRequests),
            ("putManyObjects", putManyObjects),
            ("clauseDepth", clauseDepth), ("clauses", clauses), ("inValues", inValues),
            ("polygonPositions", polygonPositions),
            ("orderKeys", orderKeys), ("dataTypeBytes", dataTypeBytes),
            ("geoFields", geoFields), ("requestKeyBytes", requestKeyBytes),
            ("requestKeys", requestKeys), ("queryMilliseconds", queryMilliseconds),
            ("exportIdleMilliseconds", exportIdleMilliseconds), ("exports", exports),
            ("exportLogBytes", exportLogBytes), ("connections", connections),
            ("connectionsPerAddress", connectionsPerAddress),
            ("handshakeMilliseconds", handshakeMilliseconds),
            ("lineMilliseconds", lineMilliseconds), ("idleMilliseconds", idleMilliseconds),
            ("unreadMilliseconds", unreadMilliseconds),
            ("requestsPerSecond", requestsPerSecond), ("failedLogins", failedLogins),
            ("failedLoginMilliseconds", failedLoginMilliseconds), ("tokenBytes", tokenBytes),
            ("queuedWrites", queuedWrites),
            ("connectionThreads", connectionThreads), ("readThreads", readThreads),
            ("queueMilliseconds", queueMilliseconds), ("pipelinedRequests", pipelinedRequests),
            ("pipelinedBytes", pipelinedBytes), ("outputBytes", outputBytes),
            ("bufferedBytes", bufferedBytes), ("queuedWriteBytes", queuedWriteBytes),
            ("logBytes", logBytes),
        ]
    }
}
