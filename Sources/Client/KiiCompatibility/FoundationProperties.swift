import Foundation
import GeoBucketClient
import PlainJSON

// Properties of Foundation's classes in models that list their properties.

extension Property {
    /// A property of type `NSString`, `NSNumber`, `NSDecimalNumber`, `NSDate`, `NSData`, `NSURL`,
    /// `NSUUID`, `NSArray`, `NSDictionary`, one of their mutable kinds, or `NSNull`.
    @_disfavoredOverload
    public init<Value: NSObject>(_ name: String, _ keyPath: WritableKeyPath<Root, Value>) {
        self.init(
            name, keyPath, read: { try JSONValue(foundation: $0) },
            make: { try $0.object(of: Value.self) })
    }

    /// The same, nil for null.
    @_disfavoredOverload
    public init<Value: NSObject>(_ name: String, _ keyPath: WritableKeyPath<Root, Value?>) {
        self.init(
            name, keyPath, read: { try $0.map { try JSONValue(foundation: $0) } ?? .null },
            make: { $0 == .null ? nil : try $0.object(of: Value.self) })
    }
}

extension JSONValue {
    /// The value as one of Foundation's classes.
    ///
    /// - Throws: `JSONMismatch`.
    fileprivate func object<Value: NSObject>(of type: Value.Type) throws -> Value {
        guard let object = try anObject(of: type) as? Value else {
            throw JSONMismatch.expected("\(type)", found: self)
        }
        return object
    }

    private func anObject(of type: NSObject.Type) throws -> Any {
        switch type {
        case is NSDecimalNumber.Type: NSDecimalNumber(decimal: try decode())
        case is NSDate.Type: try decode(Date.self) as NSDate
        case is NSMutableData.Type: NSMutableData(data: try decode())
        case is NSData.Type: try decode(Data.self) as NSData
        case is NSURL.Type: try decode(URL.self) as NSURL
        case is NSUUID.Type: try decode(UUID.self) as NSUUID
        case is NSMutableString.Type, is NSMutableArray.Type, is NSMutableDictionary.Type:
            (foundation as? any NSMutableCopying)?.mutableCopy(with: nil) ?? foundation
        default: foundation
        }
    }
}
