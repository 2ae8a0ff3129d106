import JSONText
import TestSupport

@testable import GeoBucketClient

/// Notifications as a service would write them, and what a set makes of them.
enum WatchMessages {
    /// The params of a notification as JSON text.
    static func snapshot(
        _ objects: [String], change: Int, more: Bool = false, watch: String = "w1"
    ) -> String {
        let resume = more ? "" : #","resume":"r\#(change)""#
        return
            #"{"watch":"\#(watch)","objects":[\#(objects.joined(separator: ","))],"more":\#(more),"change":\#(change)\#(resume)}"#
    }

    static func events(_ events: [String], change: Int, watch: String = "w1") -> String {
        #"{"watch":"\#(watch)","change":\#(change),"resume":"r\#(change)","events":[\#(events.joined(separator: ","))]}"#
    }

    static func put(
        _ object: String, _ event: String = "enter", index: Int? = nil, from: Int? = nil
    ) -> String {
        let index = index.map { #","index":\#($0)"# } ?? ""
        let from = from.map { #","from":\#($0)"# } ?? ""
        return #"{"event":"\#(event)","object":\#(object)\#(index)\#(from)}"#
    }

    static func leave(_ id: String, _ reason: String = "moved") -> String {
        #"{"event":"leave","_id":"\#(id)","reason":"\#(reason)"}"#
    }

    /// `{"_id":"c7","n":3}`
    static func object(_ id: String, _ n: Int) -> String { #"{"_id":"\#(id)","n":\#(n)}"# }
}

extension WatchStates<WatchedText> {
    init(order: WatchOrder = .keys([]), resume: String? = nil) {
        self.init(.texts, order: order, resume: resume)
    }

    /// Takes a notification, given the last part of its method and its params.
    mutating func apply(_ method: String, _ params: String) throws {
        let message = try JSONParser.reading(Array(params.utf8)) {
            try WatchMessage("watch.\(method)", $0, Watched<WatchedText>.texts)
        }
        apply(message!)
    }
}

extension WatchedText {
    var text: String { String(decoding: json, as: UTF8.self) }
}

extension WatchEvent where Object == WatchedText {
    /// `entered c7`, in a ranking `changed c7 3>0`, `left c7 moved`.
    var words: String {
        switch kind {
        case .entered: "entered \(id)" + (index.map { " >\($0)" } ?? "")
        case .changed: "changed \(id)" + (index.map { " \(previousIndex!)>\($0)" } ?? "")
        case .left(let reason):
            "left \(id) \(reason)" + (previousIndex.map { " \($0)>" } ?? "")
                + (object == nil ? " unheld" : "")
        }
    }
}

extension WatchStates {
    /// The next state, which there has to be.
    mutating func taken() throws -> WatchState<Object> {
        guard let state = take() else { throw CancellationError() }
        return state
    }

    /// Whether there is nothing to take.
    var isQuiet: Bool {
        var copy = self
        return copy.take() == nil
    }
}
