// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "geobucket",
    platforms: [.macOS(.v15)],
    products: [
        .executable(name: "geobucket", targets: ["geobucket"]),
        // What the package in Benchmarks/ calls in process.
        .library(
            name: "GeoBucketEngine",
            targets: [
                "Geodesy", "SpatialIndex", "JSONText", "Objects", "QueryLanguage", "Backend",
                "EmbeddedBackend",
            ]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-collections", from: "1.6.0"),
        .package(url: "https://github.com/apple/swift-configuration", from: "1.4.0"),
        .package(url: "https://github.com/apple/swift-system", from: "1.8.1"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
    ],
    targets: [
        .systemLibrary(name: "CZlib", providers: [.apt(["zlib1g-dev"])]),
        .systemLibrary(name: "CGEOS", providers: [.apt(["libgeos-dev"])]),
        .target(name: "CGlibc"),
        .target(name: "CGeographicLib", linkerSettings: [.linkedLibrary("GeographicLib")]),
        .target(name: "CSimdjson", linkerSettings: [.linkedLibrary("simdjson")]),
        .target(name: "Geodesy", dependencies: ["CGEOS", "CGeographicLib"]),
        .target(name: "SpatialIndex", dependencies: ["Geodesy"]),
        .target(name: "JSONText", dependencies: ["CSimdjson"]),
        .target(name: "Objects", dependencies: ["Geodesy", "JSONText"]),
        .target(
            name: "QueryLanguage", dependencies: ["CGlibc", "Geodesy", "JSONText", "Objects"]),
        .target(
            name: "Backend", dependencies: ["Geodesy", "JSONText", "Objects", "QueryLanguage"]),
        .target(
            name: "ObjectStore",
            dependencies: [
                "Geodesy", "Objects", "Backend",
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "GRDBSQLite", package: "GRDB.swift"),
            ]),
        .target(
            name: "InMemoryEngine",
            dependencies: [
                "CGlibc", "Geodesy", "JSONText", "Objects", "QueryLanguage", "SpatialIndex",
                "Backend",
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "HashTreeCollections", package: "swift-collections"),
                .product(name: "HeapModule", package: "swift-collections"),
            ]),
        .target(
            name: "EmbeddedBackend",
            dependencies: [
                "Geodesy", "JSONText", "Objects", "QueryLanguage", "Backend", "ObjectStore",
                "InMemoryEngine", .product(name: "Logging", package: "swift-log"),
            ]),
        .target(
            name: "Operations",
            dependencies: ["JSONText", "Objects", "QueryLanguage", "Backend"]),
        .target(name: "WireProtocol", dependencies: ["JSONText", "Objects", "QueryLanguage"]),
        .target(
            name: "QueryServer",
            dependencies: [
                "JSONText", "Objects", "Backend", "WireProtocol", "Operations",
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "DequeModule", package: "swift-collections"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ]),
        .target(
            name: "GeoBucketClient",
            dependencies: [
                "JSONText", "WireProtocol",
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "DequeModule", package: "swift-collections"),
            ]),
        .target(
            name: "Interchange",
            dependencies: ["Geodesy", "JSONText", "Objects", "QueryLanguage", "CZlib"]),
        .executableTarget(
            name: "geobucket",
            dependencies: [
                "Geodesy", "JSONText", "Objects", "QueryLanguage", "ObjectStore",
                "EmbeddedBackend", "Operations", "QueryServer", "GeoBucketClient", "Interchange",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Configuration", package: "swift-configuration"),
                .product(name: "SystemPackage", package: "swift-system"),
                .product(name: "DequeModule", package: "swift-collections"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "UnixSignals", package: "swift-service-lifecycle"),
            ]),
        .target(
            name: "TestSupport",
            dependencies: [
                "Geodesy", "JSONText", "Objects", "QueryLanguage", "Backend", "EmbeddedBackend",
                "Operations", "QueryServer", "GeoBucketClient",
                .product(name: "Logging", package: "swift-log"),
            ],
            path: "Tests/TestSupport"),
        .testTarget(name: "GeodesyTests", dependencies: ["Geodesy", "TestSupport"]),
        .testTarget(
            name: "SpatialIndexTests", dependencies: ["Geodesy", "SpatialIndex", "TestSupport"]),
        .testTarget(name: "JSONTextTests", dependencies: ["JSONText", "TestSupport"]),
        .testTarget(name: "ObjectsTests", dependencies: ["JSONText", "Objects", "TestSupport"]),
        .testTarget(name: "WireProtocolTests", dependencies: ["WireProtocol", "TestSupport"]),
        .testTarget(
            name: "QueryServerTests",
            dependencies: [
                "JSONText", "Objects", "QueryLanguage", "Backend", "Operations", "QueryServer",
                "TestSupport", .product(name: "Logging", package: "swift-log"),
            ]),
        .testTarget(
            name: "QueryLanguageTests",
            dependencies: ["Geodesy", "JSONText", "Objects", "QueryLanguage", "TestSupport"]),
        .testTarget(
            name: "InterchangeTests",
            dependencies: ["Geodesy", "JSONText", "Objects", "Interchange", "CZlib"]),
        .testTarget(
            name: "InMemoryEngineTests",
            dependencies: [
                "Geodesy", "JSONText", "Objects", "QueryLanguage", "SpatialIndex", "Backend",
                "InMemoryEngine", "TestSupport",
            ]),
        .testTarget(
            name: "BackendContractTests",
            dependencies: [
                "Geodesy", "JSONText", "Objects", "QueryLanguage", "Backend", "EmbeddedBackend",
                "InMemoryEngine", "GeoBucketClient", "TestSupport",
                .product(name: "Logging", package: "swift-log"),
            ]),
        .testTarget(
            name: "EndToEndTests",
            dependencies: [
                "geobucket", "JSONText", "Objects", "EmbeddedBackend", "GeoBucketClient",
                "TestSupport", .product(name: "GRDB", package: "GRDB.swift"),
            ],
            exclude: ["foreign_client.py"]),
    ]
)

// A warning is an error where it is asked for: in CI. Packages of others keep their own settings.
if Context.environment["GEOBUCKET_WARNINGS_AS_ERRORS"] != nil {
    for target in package.targets where target.type != .system {
        target.swiftSettings = [.treatAllWarnings(as: .error)]
    }
}
