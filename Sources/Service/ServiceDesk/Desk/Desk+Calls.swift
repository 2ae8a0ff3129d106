import JSONText
import Objects

/// Calls as values, made into requests.
extension Desk {
    /// The request that makes a call, admitted or refused; the HTTP request that it belongs to has been
    /// counted.
    func request<Reply>(_ call: TypedCall<Reply>, from caller: Caller) -> ServiceRequest {
        do throws(ServiceFailure) {
            try service.admit(call.operation, of: call.method, from: caller)
        } catch {
            return ServiceRequest(id: "0", method: call.method, failure: RPCFailure(error))
        }
        if let bucket = call.bucket, service.placement?.isHeld(bucket) == false {
            return ServiceRequest(
                id: "0", method: call.method, failure: RPCFailure(.notHeld(bucket)),
                forwarded: ForwardedRequest(
                    bucket: bucket, text: call.text, mayBeRepeated: call.method.mayBeRepeated))
        }
        return ServiceRequest(
            id: "0", method: call.method, call: call.call, isLarge: call.isLarge)
    }
}

extension TypedCall {
    /// The call as a request of the line protocol.
    fileprivate var text: [UInt8] {
        var writer = JSONWriter()
        RequestWriter.request(id: 0, "\(method.text)", paramsText, to: &writer)
        return writer.bytes
    }
}
