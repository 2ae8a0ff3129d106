extension Connection {
    /// The stages of a connection's life.
    enum Phase {
        /// The channel is not active yet.
        case opening
        /// Nothing has been received; the client may yet turn out to speak TLS.
        case silent
        case open
        /// The connection accepts no more input but answers what it has read: the client has closed
        /// its side, the service stops, or the connection was idle for too long.
        case ending
        case closing(Closing)
        case closed
    }

    /// The steps from the last answer to the end. Further input is read and dropped: closing with
    /// unread bytes would discard the answers in transit.
    enum Closing {
        case saying(FinalMessage)
        /// Until all output has been sent.
        case sending
        case sent
        /// The sending side is closed. The connection waits, for a short time, until the client
        /// closes its own.
        case lingering(since: Int64)
        case atOnce
    }

    /// Whether the connection may work now.
    enum Turn {
        /// There is nothing to do. `wasLong` tells whether the last turn used up its time.
        case resting(wasLong: Bool)
        /// There is work to do.
        case due(wasLong: Bool)
        /// Other connections come first.
        case waiting
        case given
        case working(since: Int64, hasBegun: Bool)
    }

    enum Input {
        case paused, reading
        /// The client has closed its sending side.
        case ended
    }

    /// The progress of TLS handshake and login, which the handshake timeout limits.
    enum Arrival: Equatable {
        case unsecured, secured, arrived
    }
}
