// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "geobucket",
    // For GeoBucketClient and KiiCompatibility, which `scripts/client.py` holds to it.
    platforms: [.iOS(.v18), .macOS(.v15)],
    products: [
        .executable(name: "geobucket", targets: ["geobucket"]),
        .library(name: "GeoBucketClient", targets: ["GeoBucketClient"]),
        .library(name: "KiiCompatibility", targets: ["KiiCompatibility"]),
        .library(name: "GeoBucketArchives", targets: ["Archives"]),
        // What the package in Benchmarks/ calls in process.
        .library(
            name: "GeoBucketEngine",
            targets: [
                "Geodesy", "PersistentStructures", "SpatialIndex", "JSONText", "Objects",
                "QueryLanguage", "BackendContract", "EmbeddedBackend", "LiveQueries",
                "SyntheticData",
            ]),
        // What the package in Fuzzing/ feeds.
        .library(name: "GeoBucketFuzzTargets", targets: ["FuzzTargets"]),
    ],
    // What a build may do without: `scripts/start.sh` does, to be quick.
    traits: [
        .trait(name: "TLS", description: "Connections with TLS, of the service and of clients."),
        .trait(name: "JWT", description: "Logins by tokens that somebody else has signed."),
        .trait(name: "GIS", description: "Vector tiles and the OGC API of the web port."),
        .default(enabledTraits: ["TLS", "JWT", "GIS"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.6"),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
        .package(url: "https://github.com/vapor/jwt-kit", from: "5.7.1"),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-collections", from: "1.6.0"),
        .package(url: "https://github.com/apple/swift-configuration", from: "1.4.0"),
        .package(url: "https://github.com/apple/swift-system", from: "1.8.1"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0", traits: []),
        .package(url: "https://github.com/apple/swift-protobuf", from: "1.39.0"),
        .package(url: "https://github.com/HdrHistogram/hdrhistogram-swift", from: "0.2.0"),
        .package(
            url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1", traits: []),
    ],
    targets: [
        .systemLibrary(name: "CZlib", providers: [.apt(["zlib1g-dev"])]),
        .systemLibrary(name: "CLibcrypto", providers: [.apt(["libssl-dev"])]),
        .systemLibrary(name: "CLibpq", providers: [.apt(["libpq-dev"])]),
        .target(name: "CGlibc"),
        .target(name: "CLanes"),
        .target(
            name: "Runtime",
            dependencies: ["CGlibc", .product(name: "DequeModule", package: "swift-collections")]),
        .target(name: "CGeodesy"),
        .target(
            name: "CGEOS", dependencies: ["CGeodesy"],
            linkerSettings: [.linkedLibrary("geos_c")]),
        .target(
            name: "CGeographicLib", dependencies: ["CGeodesy"],
            linkerSettings: [.linkedLibrary("GeographicLib")]),
        .target(name: "CJSONNodes"),
        .target(
            name: "CSimdjson", dependencies: ["CJSONNodes"],
            linkerSettings: [.linkedLibrary("simdjson")]),
        .target(name: "Geodesy", dependencies: ["CGeodesy", "CLanes"]),
        .target(
            name: "PersistentStructures",
            dependencies: [
                "CGlibc", "CLanes",
                .product(name: "HashTreeCollections", package: "swift-collections"),
            ]),
        .target(
            name: "SpatialIndex",
            dependencies: ["CGlibc", "CLanes", "Geodesy", "PersistentStructures"]),
        .target(name: "PlainJSON", dependencies: ["CJSONNodes"]),
        .target(name: "JSONText", dependencies: ["CSimdjson", "PlainJSON"]),
        .target(name: "Digests", dependencies: ["CLibcrypto"]),
        .target(name: "Vocabulary"),
        .target(name: "Objects", dependencies: ["Geodesy", "PlainJSON", "Vocabulary"]),
        .target(
            name: "QueryLanguage", dependencies: ["CLanes", "Geodesy", "Objects", "PlainJSON"]),
        .target(
            name: "BackendContract",
            dependencies: [
                "CGEOS", "CGeographicLib", "Geodesy", "JSONText", "Objects", "QueryLanguage",
                "Digests",
            ]),
        .target(
            name: "InMemoryEngine",
            dependencies: [
                "CGlibc", "Digests", "Geodesy", "JSONText", "Objects", "PersistentStructures",
                "QueryLanguage", "Runtime", "SpatialIndex", "BackendContract",
                .product(name: "HashTreeCollections", package: "swift-collections"),
                .product(name: "CoreMetrics", package: "swift-metrics"),
            ]),
        .target(
            name: "EmbeddedBackend",
            dependencies: [
                "CGlibc", "JSONText", "Objects", "QueryLanguage", "BackendContract", "Runtime",
                "InMemoryEngine", "CZlib", "Geodesy", "PersistentStructures",
                .product(name: "Logging", package: "swift-log"),
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "GRDBSQLite", package: "GRDB.swift"),
            ]),
        .target(
            name: "PostgresBackend",
            dependencies: [
                "CLibpq", "Runtime", "PersistentStructures", "Objects", "BackendContract",
                "EmbeddedBackend", "JSONText", "QueryLanguage", "InMemoryEngine",
                .product(name: "DequeModule", package: "swift-collections"),
                .product(name: "Logging", package: "swift-log"),
            ]),
        .target(
            name: "LiveQueries",
            dependencies: [
                "Digests", "Geodesy", "JSONText", "PersistentStructures", "Objects",
                "QueryLanguage", "Runtime", "Wire", "BackendContract",
                .product(name: "DequeModule", package: "swift-collections"),
                .product(name: "Logging", package: "swift-log"),
            ]),
        .target(name: "Wire", dependencies: ["PlainJSON", "Vocabulary"]),
        .target(
            name: "ServiceDesk",
            dependencies: [
                "Digests", "Runtime", "JSONText", "Objects", "QueryLanguage", "BackendContract",
                "LiveQueries", "Wire",
                .product(name: "CoreMetrics", package: "swift-metrics"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "JWTKit", package: "jwt-kit", condition: .when(traits: ["JWT"])),
            ]),
        .target(
            name: "Listeners",
            dependencies: [
                "Runtime", .product(name: "CoreMetrics", package: "swift-metrics"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
            ]),
        .target(
            name: "QueryServer",
            dependencies: [
                "Digests",
                "JSONText",
                "Objects",
                "BackendContract",
                "LiveQueries",
                "ServiceDesk",
                "Listeners",
                "Runtime",
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOTLS", package: "swift-nio"),
                .product(
                    name: "NIOSSL", package: "swift-nio-ssl", condition: .when(traits: ["TLS"])),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "DequeModule", package: "swift-collections"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ]),
        .target(
            name: "HTTPGateway",
            dependencies: [
                "Objects", "ServiceDesk", "Listeners", "Runtime",
                .product(name: "CoreMetrics", package: "swift-metrics"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "HummingbirdCore", package: "hummingbird"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ]),
        .target(
            name: "WebExchange",
            dependencies: [
                "Digests", "JSONText", "Objects", "ServiceDesk", "QueryLanguage", "Wire",
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ]),
        .target(
            name: "GISSites",
            dependencies: [
                "Geodesy", "JSONText", "Objects", "ServiceDesk", "QueryLanguage", "WebExchange",
                "Wire",
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "SwiftProtobuf", package: "swift-protobuf"),
            ],
            exclude: ["Tiles/Encoding/vector_tile.proto"]),
        .target(name: "CWebFiles"),
        .target(
            name: "WebServer",
            dependencies: [
                "CWebFiles", "CZlib", "Digests", "HTTPGateway", "JSONText", "Listeners",
                "LiveQueries", "Objects", "ServiceDesk", "QueryLanguage", "QueryServer",
                "Runtime", "WebExchange", "BackendContract", "Wire",
                .target(name: "GISSites", condition: .when(traits: ["GIS"])),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "HummingbirdCore", package: "hummingbird"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ]),
        .target(
            name: "GeoBucketClient",
            dependencies: [
                "PlainJSON", "Vocabulary", "Wire",
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOTLS", package: "swift-nio"),
                .product(
                    name: "NIOSSL", package: "swift-nio-ssl", condition: .when(traits: ["TLS"])),
                .product(name: "DequeModule", package: "swift-collections"),
                .product(name: "Logging", package: "swift-log"),
            ]),
        .target(name: "KiiCompatibility", dependencies: ["GeoBucketClient", "PlainJSON"]),
        .target(name: "Archives", dependencies: ["JSONText"]),
        .target(
            name: "Interchange",
            dependencies: [
                "Archives", "BackendContract", "CGEOS", "CGeographicLib", "CZlib", "Digests",
                "Geodesy", "JSONText", "Objects",
            ]),
        .target(name: "SyntheticData", dependencies: ["Geodesy", "JSONText"]),
        .target(
            name: "LoadTest",
            dependencies: [
                "JSONText", "SyntheticData",
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "DequeModule", package: "swift-collections"),
                .product(name: "Histogram", package: "hdrhistogram-swift"),
            ]),
        .executableTarget(
            name: "geobucket",
            dependencies: [
                "Runtime", "Geodesy", "JSONText", "Objects", "QueryLanguage", "BackendContract",
                "EmbeddedBackend", "PostgresBackend", "WebServer", "LiveQueries", "ServiceDesk",
                "QueryServer", "HTTPGateway", "GeoBucketClient", "Interchange", "Archives",
                "LoadTest", "SyntheticData",
                .product(name: "CoreMetrics", package: "swift-metrics"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Configuration", package: "swift-configuration"),
                .product(name: "SystemPackage", package: "swift-system"),
                .product(name: "DequeModule", package: "swift-collections"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "UnixSignals", package: "swift-service-lifecycle"),
            ]),
        // What the tutorial builds.
        .executableTarget(
            name: "StoreFinder", dependencies: ["GeoBucketClient"], path: "Examples/StoreFinder"),
        .target(
            name: "TestSupport",
            dependencies: [
                "CGlibc", "Runtime", "JSONText", "Objects", "QueryLanguage", "BackendContract",
                "InMemoryEngine", "EmbeddedBackend", "PostgresBackend", "ServiceDesk",
                "QueryServer", "WebExchange", "WebServer", "GeoBucketClient", "SyntheticData",
                "Wire",
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "Logging", package: "swift-log"),
            ]),
        .target(
            name: "FuzzTargets",
            dependencies: [
                "Archives", "Geodesy", "JSONText", "Objects", "QueryLanguage", "BackendContract",
                "GISSites", "InMemoryEngine", "Interchange", "LiveQueries", "ServiceDesk",
                "Runtime", "WebExchange",
            ]),
        .testTarget(name: "FuzzTests", dependencies: ["FuzzTargets", "TestSupport"]),
        .testTarget(name: "DigestsTests", dependencies: ["Digests"]),
        .testTarget(name: "GeodesyTests", dependencies: ["Geodesy", "TestSupport"]),
        .testTarget(
            name: "PersistentStructuresTests",
            dependencies: ["PersistentStructures", "TestSupport"]
        ),
        .testTarget(
            name: "SpatialIndexTests",
            dependencies: ["Geodesy", "PersistentStructures", "SpatialIndex", "TestSupport"]),
        .testTarget(
            name: "JSONTextTests", dependencies: ["FuzzTargets", "JSONText", "TestSupport"]),
        .testTarget(name: "RuntimeTests", dependencies: ["Runtime", "TestSupport"]),
        .testTarget(
            name: "ObjectsTests",
            dependencies: ["BackendContract", "JSONText", "Objects", "TestSupport"]),
        .testTarget(
            name: "OperationsTests",
            dependencies: [
                "BackendContract", "JSONText", "Objects", "Runtime", "ServiceDesk", "TestSupport",
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "CryptoExtras", package: "swift-crypto"),
            ]),
        .testTarget(
            name: "WireProtocolTests",
            dependencies: ["JSONText", "Objects", "ServiceDesk", "TestSupport"]),
        .testTarget(
            name: "HTTPGatewayTests",
            dependencies: [
                "HTTPGateway", "Objects", "ServiceDesk", "Runtime", "TestSupport",
                .product(name: "CoreMetrics", package: "swift-metrics"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "HummingbirdCore", package: "hummingbird"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOEmbedded", package: "swift-nio"),
            ]),
        .testTarget(
            name: "VectorTilesTests",
            dependencies: [
                "GISSites", "JSONText", "Objects", "ServiceDesk", "WebExchange", "WebServer",
                "Wire", "GeoBucketClient", "TestSupport",
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "SwiftProtobuf", package: "swift-protobuf"),
            ]),
        .testTarget(
            name: "FeaturesAPITests",
            dependencies: [
                "GISSites", "GeoBucketClient", "JSONText", "Objects", "ServiceDesk",
                "WebExchange", "Wire", "TestSupport",
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ]),
        .testTarget(
            name: "KiiRESTTests",
            dependencies: [
                "WebServer", "Objects", "ServiceDesk", "TestSupport",
            ],
            exclude: ["Transcripts"]),
        .testTarget(
            name: "WebServerTests",
            dependencies: [
                "GeoBucketClient", "JSONText", "Objects", "ServiceDesk", "QueryServer",
                "TestSupport", "WebExchange", "WebServer",
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "NIOCore", package: "swift-nio"),
            ]),
        .testTarget(
            name: "QueryServerTests",
            dependencies: [
                "JSONText", "Objects", "BackendContract", "Listeners", "LiveQueries",
                "ServiceDesk", "QueryLanguage", "QueryServer", "WebServer", "GeoBucketClient",
                "TestSupport",
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOEmbedded", package: "swift-nio"),
            ]),
        .testTarget(
            name: "QueryLanguageTests",
            dependencies: ["Geodesy", "JSONText", "Objects", "QueryLanguage", "TestSupport"]),
        .testTarget(
            name: "GeoBucketClientTests",
            dependencies: [
                "GeoBucketClient", "KiiCompatibility", "JSONText", "Objects", "QueryLanguage",
                "TestSupport",
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
            ]),
        .testTarget(name: "ArchivesTests", dependencies: ["Archives", "JSONText", "TestSupport"]),
        .testTarget(
            name: "InterchangeTests",
            dependencies: ["Geodesy", "JSONText", "Interchange", "CZlib"]),
        .testTarget(
            name: "ColumnsTests",
            dependencies: [
                "InMemoryEngine", "JSONText", "Objects", "PersistentStructures", "QueryLanguage",
                "TestSupport",
            ]),
        .testTarget(
            name: "InMemoryEngineTests",
            dependencies: [
                "Geodesy", "JSONText", "Objects", "PersistentStructures", "QueryLanguage",
                "Runtime", "SpatialIndex", "BackendContract", "InMemoryEngine", "TestSupport",
            ]),
        .testTarget(
            name: "LoadTestTests",
            dependencies: [
                "Geodesy", "JSONText", "LoadTest", "SyntheticData", "TestSupport",
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOEmbedded", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
            ]),
        .testTarget(
            name: "WriteRulesTests",
            dependencies: [
                "JSONText", "Objects", "QueryLanguage", "BackendContract", "TestSupport",
            ]),
        .testTarget(
            name: "LiveQueriesTests",
            dependencies: [
                "Geodesy", "JSONText", "Objects", "QueryLanguage", "BackendContract",
                "EmbeddedBackend", "LiveQueries", "PostgresBackend", "Runtime", "SyntheticData",
                "TestSupport",
                .product(name: "Logging", package: "swift-log"),
            ]),
        .testTarget(
            name: "BackendContractTests",
            dependencies: [
                "Geodesy", "JSONText", "Objects", "QueryLanguage", "BackendContract",
                "InMemoryEngine", "EmbeddedBackend", "PostgresBackend", "Runtime", "QueryServer",
                "GeoBucketClient", "SyntheticData", "TestSupport",
                .product(name: "GRDB", package: "GRDB.swift"),
            ]),
        .testTarget(
            name: "EndToEndTests",
            dependencies: [
                "CGlibc", "geobucket", "Runtime", "JSONText", "Objects", "Wire", "EmbeddedBackend",
                "GeoBucketClient",
                "KiiCompatibility", "LoadTest", "ServiceDesk", "QueryServer", "StoreFinder",
                "TestSupport",
                .product(name: "GRDB", package: "GRDB.swift"),
            ],
            exclude: [
                "foreign_client.py", "make_archives.py", "failing_io.c", "observed_calls.c",
                "Stores",
            ]),
    ]
)

// The layers of Sources/ and Tests/. A target lies in the folder of its layer.
let layers = [
    "System": [
        "CGEOS", "CGeodesy", "CGeographicLib", "CGlibc", "CJSONNodes", "CLanes", "CLibcrypto",
        "CLibpq", "CSimdjson", "CZlib", "Runtime", "RuntimeTests",
    ],
    "Core": [
        "Digests", "DigestsTests", "Geodesy", "GeodesyTests", "JSONText",
        "JSONTextTests", "Objects", "ObjectsTests", "PersistentStructures",
        "PersistentStructuresTests", "PlainJSON", "QueryLanguage", "QueryLanguageTests",
        "SpatialIndex", "SpatialIndexTests", "Vocabulary", "Wire",
    ],
    "Engine": [
        "BackendContract", "BackendContractTests", "InMemoryEngine", "ColumnsTests",
        "EmbeddedBackend",
        "InMemoryEngine", "InMemoryEngineTests", "LiveQueries", "LiveQueriesTests",
        "EmbeddedBackend",
        "PostgresBackend", "PostgresBackend", "BackendContract", "WriteRulesTests",
    ],
    "Service": [
        "CWebFiles", "GISSites", "FeaturesAPITests", "HTTPGateway", "HTTPGatewayTests",
        "WebServer", "KiiRESTTests", "Listeners", "ServiceDesk", "OperationsTests", "QueryServer",
        "QueryServerTests", "GISSites", "VectorTilesTests", "WebExchange", "WebServer",
        "WebServerTests", "ServiceDesk", "WireProtocolTests",
    ],
    "Client": ["GeoBucketClient", "GeoBucketClientTests", "KiiCompatibility"],
    "Tools": [
        "Archives", "ArchivesTests", "FuzzTests", "Interchange", "InterchangeTests", "LoadTest",
        "LoadTestTests", "SyntheticData", "geobucket",
    ],
    "Support": ["FuzzTargets", "TestSupport"],
]
for (layer, names) in layers {
    for target in package.targets where names.contains(target.name) {
        let isTest = target.type == .test || layer == "Support"
        target.path = "\(isTest ? "Tests" : "Sources")/\(layer)/\(target.name)"
    }
}

// A warning is an error where it is asked for: in CI. Packages of others keep their own settings.
if Context.environment["GEOBUCKET_WARNINGS_AS_ERRORS"] != nil {
    for target in package.targets where target.type != .system {
        target.swiftSettings = [.treatAllWarnings(as: .error)]
    }
}

// The tests compute much, so those who wait for all of them ask for this: what they call, and the oracles that
// they compare it with, are optimized. Assertions stay.
if Context.environment["GEOBUCKET_OPTIMIZED_TESTS"] != nil {
    let optimized = ["System", "Core", "Engine", "Support"].flatMap { layers[$0]! }
    let swiftFlags = ["-O", "-Xfrontend", "-assert-config", "-Xfrontend", "Debug"]
    for target in package.targets where optimized.contains(target.name) && target.type == .regular {
        target.cSettings = [.unsafeFlags(["-O2"], .when(configuration: .debug))]
        target.cxxSettings = [.unsafeFlags(["-O2"], .when(configuration: .debug))]
        target.swiftSettings =
            (target.swiftSettings ?? [])
            + [.unsafeFlags(swiftFlags, .when(configuration: .debug))]
    }
}
