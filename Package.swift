// swift-tools-version: 6.2
import Foundation
import PackageDescription

/// The settings of all our Swift targets, with which the compiler enforces the house style: every unsafe expression is marked
/// `unsafe`, and warnings are errors on Linux. An app on a newer SDK must not fail to build because of a new warning.
let strict: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .strictMemorySafety(),
    .treatAllWarnings(as: .error, .when(platforms: [.linux])),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

/// Locks that the thread sanitizer understands. It would report false races on data guarded by a `Mutex`.
let locks = Target.Dependency.product(name: "NIOConcurrencyHelpers", package: "swift-nio")

// The products of other packages that several targets use.
let nioCore = Target.Dependency.product(name: "NIOCore", package: "swift-nio")
let logging = Target.Dependency.product(name: "Logging", package: "swift-log")
let nioPosix = Target.Dependency.product(name: "NIOPosix", package: "swift-nio")
let nioHTTP1 = Target.Dependency.product(name: "NIOHTTP1", package: "swift-nio")
let serviceLifecycle = Target.Dependency.product(name: "ServiceLifecycle", package: "swift-service-lifecycle")
let crypto = Target.Dependency.product(name: "Crypto", package: "swift-crypto")
let nioSSL = Target.Dependency.product(name: "NIOSSL", package: "swift-nio-ssl")
let systemPackage = Target.Dependency.product(name: "SystemPackage", package: "swift-system")
let asyncHTTPClient = Target.Dependency.product(name: "AsyncHTTPClient", package: "async-http-client")
let nioHPACK = Target.Dependency.product(name: "NIOHPACK", package: "swift-nio-http2")
let unixSignals = Target.Dependency.product(name: "UnixSignals", package: "swift-service-lifecycle")
let argumentParser = Target.Dependency.product(name: "ArgumentParser", package: "swift-argument-parser")
let cryptoExtras = Target.Dependency.product(name: "CryptoExtras", package: "swift-crypto")
let realModule = Target.Dependency.product(name: "RealModule", package: "swift-numerics")
let yams = Target.Dependency.product(name: "Yams", package: "Yams")
let nioEmbedded = Target.Dependency.product(name: "NIOEmbedded", package: "swift-nio")

let package = Package(
    name: "offer-signer",
    // Those of OfferSignerClient. The service runs on Linux.
    platforms: [.iOS(.v15), .macOS(.v12), .tvOS(.v15), .watchOS(.v8), .visionOS(.v1)],
    products: [
        .executable(name: "offer-signer", targets: ["offer-signer"]),
        .library(name: "OfferSignerClient", targets: ["OfferSignerClient"]),
        .library(name: "OfferSigning", targets: ["OfferSigning"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-system", from: "1.8.1"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.6"),
        .package(url: "https://github.com/apple/swift-nio-http2", from: "1.46.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
        .package(url: "https://github.com/apple/swift-nio-extras", from: "1.35.2"),
        .package(url: "https://github.com/jpsim/Yams", from: "6.2.2"),
        .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
        .package(url: "https://github.com/apple/swift-numerics", from: "1.1.1"),
        // For tests only: independent implementations that must agree with ours.
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
        .package(url: "https://github.com/vapor/jwt-kit", from: "5.7.1"),
    ],
    targets: [
        // Imports run one way, top to bottom: a target depends only on targets above it.
        // Linux has no StoreKit. If the client did not depend on its stand-in, what the client contains would depend on the order
        // of the build.
        .target(name: "StoreKit", path: "Tests/StoreKitStandIn", swiftSettings: strict),
        // The client for apps. It shares no code with the service.
        .target(
            name: "OfferSignerClient", dependencies: ["StoreKit"], exclude: ["README.md"], swiftSettings: strict),
        .systemLibrary(name: "COpenSSL", pkgConfig: "openssl", providers: [.apt(["libssl-dev"])]),
        .target(name: "CProcess"),
        .target(name: "COpenAPI"),
        .target(name: "OfferCore", dependencies: [locks], exclude: ["README.md"], swiftSettings: strict),
        .target(
            name: "OfferEligibility", dependencies: ["OfferCore", locks], exclude: ["README.md"], swiftSettings: strict),
        .target(
            name: "OfferReports", dependencies: ["OfferCore", realModule], exclude: ["README.md"], swiftSettings: strict
        ),
        .target(
            name: "OfferFiles",
            dependencies: ["OfferCore", systemPackage],
            exclude: ["README.md"], swiftSettings: strict
        ),
        .target(
            name: "OfferCrypto", dependencies: ["COpenSSL", "OfferCore", locks], exclude: ["README.md"],
            swiftSettings: strict),
        .target(
            name: "OfferTelemetry",
            dependencies: [
                "OfferCore", locks, logging, nioCore, nioPosix,
            ],
            exclude: ["README.md"], swiftSettings: strict
        ),
        // The only client for requests to other servers.
        .target(
            name: "OutgoingHTTP",
            dependencies: [
                "OfferCore", "OfferCrypto", asyncHTTPClient, nioCore, nioHTTP1, nioPosix, nioSSL,
            ],
            exclude: ["README.md"], swiftSettings: strict
        ),
        .target(
            name: "OfferHTTP",
            dependencies: [
                "CProcess", "OfferCore", "OfferTelemetry", locks, logging, nioCore,
                .product(name: "NIOExtras", package: "swift-nio-extras"), nioHPACK,
                .product(name: "NIOHTTP2", package: "swift-nio-http2"), nioPosix, nioSSL,
                .product(name: "NIOTLS", package: "swift-nio"), serviceLifecycle,
            ],
            exclude: ["README.md"], swiftSettings: strict
        ),
        // Loads the module of a token when it is first needed, so it takes nothing to build.
        .target(name: "CPKCS11"),
        .target(
            name: "OfferPKCS11", dependencies: ["CPKCS11", locks], exclude: ["README.md"], swiftSettings: strict),
        .target(
            name: "OfferKeys",
            dependencies: [
                "OfferCore", "OfferFiles", "OfferCrypto", "OfferPKCS11", locks, systemPackage,
            ],
            exclude: ["README.md"], swiftSettings: strict
        ),
        .target(
            name: "OfferAudit",
            dependencies: [
                "OfferCore", "OfferEligibility", "OfferFiles", "OfferCrypto", "OfferTelemetry", locks, logging,
                nioCore, nioPosix, systemPackage,
            ],
            exclude: ["README.md"], swiftSettings: strict
        ),
        .target(
            name: "OfferIdentity",
            dependencies: [
                "OfferCore", "OfferEligibility", "OfferFiles", "OfferCrypto", "OfferTelemetry", "OutgoingHTTP", locks,
                logging, nioCore, nioPosix, serviceLifecycle,
            ],
            exclude: ["README.md"], swiftSettings: strict
        ),
        .target(
            name: "AppStoreData", dependencies: ["OfferCore", "OfferEligibility", "OfferCrypto", locks],
            exclude: ["README.md"], swiftSettings: strict),
        .target(
            name: "AppStoreAPI",
            dependencies: [
                "OfferCore", "OfferEligibility", "OfferCrypto", "OutgoingHTTP", "AppStoreData", locks, nioCore,
            ],
            exclude: ["README.md"], swiftSettings: strict
        ),
        .target(
            name: "AppStoreConnect",
            dependencies: ["OfferCore", "OfferEligibility", "OutgoingHTTP", "AppStoreAPI", nioCore],
            exclude: ["README.md"], swiftSettings: strict
        ),
        .systemLibrary(name: "CSQLite", providers: [.apt(["libsqlite3-dev"])]),
        .target(name: "OfferSQLite", dependencies: ["CSQLite", locks], exclude: ["README.md"], swiftSettings: strict),
        // Loads libpq when it is first needed, so it takes nothing to build.
        .target(name: "CPostgreSQL"),
        .target(name: "OfferPostgreSQL", dependencies: ["CPostgreSQL"], exclude: ["README.md"], swiftSettings: strict),
        .target(
            name: "SubscriberStore",
            dependencies: [
                "OfferCore", "OfferEligibility", "OfferReports", "OfferFiles", "OfferCrypto", "OfferPostgreSQL",
                "OfferSQLite", locks, systemPackage,
            ],
            exclude: ["README.md"], swiftSettings: strict
        ),
        .target(
            name: "OfferExplanations", dependencies: ["OfferCore", "OfferEligibility", "OfferCrypto"],
            exclude: ["README.md"], swiftSettings: strict),
        // The library for servers that sign in their own process.
        .target(
            name: "OfferSigning", dependencies: ["OfferCore", "OfferFiles", "OfferCrypto", "OfferExplanations"],
            exclude: ["README.md"], swiftSettings: strict),
        .target(name: "CConsole"),
        .target(
            name: "OfferConsole", dependencies: ["CConsole", "OfferCore", "OfferReports"],
            exclude: ["README.md", "Style/console.css", "Style/favicon.svg"],
            swiftSettings: strict),
        .target(
            name: "OfferConfiguration",
            dependencies: [
                "CProcess", "OfferCore", "OfferEligibility", "OfferFiles", "OfferCrypto", "OfferTelemetry",
                "OutgoingHTTP", "OfferHTTP", "OfferPKCS11", "OfferKeys", "OfferAudit", "AppStoreData", "AppStoreAPI",
                "AppStoreConnect", "OfferIdentity", "SubscriberStore", locks, logging, nioCore, nioPosix,
                serviceLifecycle, unixSignals, yams,
            ],
            exclude: ["README.md"], swiftSettings: strict
        ),
        .target(
            name: "SubscriberSync",
            dependencies: [
                "OfferCore", "OfferEligibility", "OfferCrypto", "OfferTelemetry", "OutgoingHTTP", "OfferHTTP",
                "OfferAudit", "AppStoreData", "AppStoreAPI", "AppStoreConnect", "OfferReports", "SubscriberStore",
                "OfferConfiguration", locks, logging, nioCore, serviceLifecycle, nioPosix,
            ],
            exclude: ["README.md"], swiftSettings: strict
        ),
        .target(
            name: "OfferService",
            dependencies: [
                "COpenAPI", "CProcess", "OfferCore", "OfferEligibility", "OfferReports", "OfferCrypto",
                "OfferTelemetry", "OfferHTTP", "OfferConsole", "OfferKeys", "OfferAudit", "OfferIdentity",
                "AppStoreData", "AppStoreAPI", "SubscriberStore",
                "OfferExplanations", "OfferConfiguration", "SubscriberSync", locks, logging, nioCore, nioHTTP1,
                nioPosix, nioSSL, serviceLifecycle, unixSignals,
            ],
            exclude: ["README.md", "OpenAPI/openapi.json"], swiftSettings: strict
        ),
        .target(
            name: "ConsoleService",
            dependencies: [
                "OfferCore", "OfferEligibility", "OfferReports", "OfferCrypto", "OfferTelemetry", "OfferHTTP",
                "OfferAudit",
                "OfferConsole", "OfferIdentity", "OutgoingHTTP", "AppStoreAPI", "SubscriberStore", "OfferConfiguration",
                "SubscriberSync", "OfferService", locks, logging, serviceLifecycle,
            ],
            exclude: ["README.md"], swiftSettings: strict
        ),
        .executableTarget(
            name: "offer-signer",
            dependencies: [
                "CProcess", "OfferCore", "OfferEligibility", "OfferReports", "OfferFiles", "OfferCrypto",
                "OfferTelemetry", "OutgoingHTTP", "OfferHTTP", "OfferPKCS11", "OfferKeys", "OfferAudit",
                "OfferIdentity", "AppStoreData", "AppStoreAPI",
                "AppStoreConnect", "SubscriberStore", "OfferExplanations", "OfferConfiguration", "SubscriberSync",
                "OfferService", "OfferConsole", "ConsoleService", argumentParser, logging, nioCore, serviceLifecycle,
                systemPackage,
                unixSignals, locks,
            ],
            exclude: ["README.md"], swiftSettings: strict
        ),
        // Times the parts of an offer, and the reading of App Store data, for scripts/bench.
        .executableTarget(
            name: "offer-bench",
            dependencies: [
                "OfferCore", "OfferEligibility", "OfferCrypto", "OfferHTTP", "OfferPKCS11", "OfferKeys", "AppStoreData",
                "OfferConfiguration", "OfferService", "OfferSigning", locks, logging,
            ],
            exclude: ["README.md"], swiftSettings: strict
        ),
        .target(
            name: "TestSupport",
            dependencies: [
                "OfferCore", "OfferCrypto", "OfferTelemetry", locks, crypto, cryptoExtras, logging, nioCore, nioHTTP1,
                nioPosix,
            ],
            path: "Tests/TestSupport",
            swiftSettings: strict
        ),
        // What customers live through, the notifications that the App Store sends of it, and the state to expect.
        .target(
            name: "HistoryTestSupport", dependencies: ["AppStoreData", "OfferCore", "OfferEligibility", "TestSupport"],
            path: "Tests/HistoryTestSupport", swiftSettings: strict
        ),
        .testTarget(
            name: "OfferCoreTests", dependencies: ["OfferCore", "TestSupport", locks], swiftSettings: strict
        ),
        .testTarget(
            name: "OfferEligibilityTests",
            dependencies: [
                "OfferCore", "OfferEligibility", "AppStoreData", "TestSupport", "HistoryTestSupport", locks,
            ],
            swiftSettings: strict
        ),
        .testTarget(
            name: "OfferReportsTests", dependencies: ["OfferCore", "OfferReports", "TestSupport"],
            exclude: ["Peer/recorded.txt", "Peer/report_peer.py"], swiftSettings: strict),
        .testTarget(
            name: "OfferCryptoTests",
            dependencies: [
                "OfferCore", "OfferCrypto", "TestSupport", crypto, cryptoExtras,
                .product(name: "JWTKit", package: "jwt-kit"),
            ],
            swiftSettings: strict
        ),
        .testTarget(
            name: "OutgoingHTTPTests", dependencies: ["OutgoingHTTP", "TestSupport"], swiftSettings: strict
        ),
        .testTarget(
            name: "OfferHTTPTests",
            dependencies: [
                "OfferCore", "OfferTelemetry", "OfferHTTP", "TestSupport", locks,
                logging,
                nioCore,
                nioEmbedded,
                nioHPACK,
                // An independent parser that must agree with ours.
                nioHTTP1,
            ],
            swiftSettings: strict
        ),
        .testTarget(
            name: "OfferKeysTests",
            dependencies: [
                "OfferCore", "OfferCrypto", "OfferPKCS11", "OfferKeys", "TestSupport", locks, crypto,
            ],
            swiftSettings: strict
        ),
        .testTarget(
            name: "OfferAuditTests",
            dependencies: [
                "OfferCore", "OfferEligibility", "OfferCrypto", "OfferTelemetry", "OfferAudit", "TestSupport", locks,
                crypto, logging,
            ],
            swiftSettings: strict
        ),
        // Identity providers over TLS: a hostile one, and the package oidc-provider-mock.
        .target(
            name: "SignInTestSupport",
            dependencies: ["OfferCore", "TestSupport", crypto, locks, nioCore, nioHTTP1, nioPosix, nioSSL],
            path: "Tests/SignInTestSupport", swiftSettings: strict
        ),
        .testTarget(
            name: "OfferIdentityTests",
            dependencies: [
                "OfferCore", "OfferCrypto", "OfferEligibility", "OfferTelemetry", "OutgoingHTTP", "OfferIdentity",
                "TestSupport", "SignInTestSupport", locks,
            ],
            swiftSettings: strict
        ),
        // Certificates, JWS and receipts like Apple's, signed with keys made for tests.
        .target(
            name: "AppStoreTestSupport",
            dependencies: ["AppStoreData", "OfferCore", "OfferEligibility", "OfferCrypto", "TestSupport", locks],
            path: "Tests/AppStoreTestSupport", swiftSettings: strict
        ),
        .testTarget(
            name: "AppStoreDataTests",
            dependencies: [
                "AppStoreData", "OfferCore", "OfferEligibility", "OfferCrypto", "TestSupport", "AppStoreTestSupport",
            ],
            swiftSettings: strict
        ),
        // The App Store for tests and demonstrations: generated customers, its Server API over TLS, and notifications.
        .target(
            name: "AppStoreStandIn",
            dependencies: [
                "AppStoreTestSupport", "OfferCore", "OfferEligibility", "OfferCrypto", "TestSupport", locks,
                asyncHTTPClient, nioCore, nioHTTP1, nioPosix, nioSSL,
            ],
            path: "Tests/AppStoreStandIn", swiftSettings: strict
        ),
        .executableTarget(
            name: "app-store-stand-in",
            dependencies: [
                "AppStoreStandIn", "AppStoreTestSupport", "OfferCrypto", "TestSupport", argumentParser, unixSignals,
            ],
            path: "Tests/AppStoreStandInProgram", swiftSettings: strict
        ),
        .testTarget(
            name: "AppStoreAPITests",
            dependencies: [
                "OutgoingHTTP", "AppStoreAPI", "AppStoreData", "OfferCore", "OfferEligibility", "OfferCrypto",
                "TestSupport", "AppStoreTestSupport", "AppStoreStandIn", "StoreTestSupport", locks, nioCore,
            ],
            swiftSettings: strict
        ),
        .testTarget(
            name: "AppStoreConnectTests",
            dependencies: [
                "AppStoreConnect", "AppStoreAPI", "OutgoingHTTP", "OfferCore", "OfferEligibility", "OfferCrypto",
                "OfferConfiguration", "TestSupport", "AppStoreStandIn", locks, nioCore,
            ],
            swiftSettings: strict
        ),
        // Writes to a database until a test kills it.
        .executableTarget(
            name: "store-load",
            dependencies: [
                "OfferCore", "OfferEligibility", "OfferSQLite", "SubscriberStore", "StoreTestSupport",
            ],
            path: "Tests/StoreLoad", swiftSettings: strict
        ),
        // Sends App Store notifications to a running service, and receives what it forwards.
        .executableTarget(
            name: "notification-load",
            dependencies: [
                "AppStoreTestSupport", locks, argumentParser, asyncHTTPClient, nioCore, nioHTTP1, nioPosix,
            ],
            path: "Tests/NotificationLoad", swiftSettings: strict
        ),
        // Finds and delivers the events of customers until a test kills it.
        .executableTarget(
            name: "event-process",
            dependencies: [
                "OfferCore", "OfferCrypto", "OfferTelemetry", "OfferConfiguration", "SubscriberStore", "SubscriberSync",
                locks, logging,
            ],
            path: "Tests/EventProcess", swiftSettings: strict
        ),
        .target(
            name: "StoreTestSupport",
            dependencies: ["OfferCore", "OfferEligibility", "OfferPostgreSQL", "SubscriberStore", locks],
            path: "Tests/StoreTestSupport",
            swiftSettings: strict
        ),
        .testTarget(
            name: "SubscriberStoreTests",
            dependencies: [
                "AppStoreData", "OfferCore", "OfferEligibility", "OfferReports", "OfferFiles", "OfferPostgreSQL",
                "SubscriberStore", "StoreTestSupport", "TestSupport", "HistoryTestSupport", "store-load", locks,
                nioCore, nioPosix, "OfferSQLite",
            ],
            swiftSettings: strict
        ),
        .testTarget(
            name: "OfferSQLiteTests", dependencies: ["OfferSQLite", "TestSupport", locks], swiftSettings: strict),
        .testTarget(
            name: "OfferTelemetryTests",
            dependencies: ["OfferTelemetry", locks, logging],
            swiftSettings: strict
        ),
        // Every page of the console, in every state, with made-up data.
        .target(
            name: "ConsoleSamples", dependencies: ["OfferConsole", "OfferCore", "OfferReports"],
            path: "Tests/ConsoleSamples", swiftSettings: strict),
        .testTarget(
            name: "OfferConsoleTests", dependencies: ["ConsoleSamples", "OfferConsole", "OfferCore"],
            swiftSettings: strict),
        .testTarget(
            name: "ConsoleServiceTests",
            dependencies: [
                "OfferCore", "OfferEligibility", "OfferCrypto", "OfferTelemetry", "OfferHTTP", "OfferAudit",
                "OfferConsole", "OfferIdentity", "SubscriberStore", "OfferConfiguration", "SubscriberSync",
                "OfferService", "ConsoleService", "TestSupport", "StoreTestSupport", "SignInTestSupport", locks,
                nioCore,
            ],
            swiftSettings: strict),
        .testTarget(
            name: "OfferExplanationsTests",
            dependencies: [
                "OfferCore", "OfferEligibility", "OfferCrypto", "OfferExplanations", "OfferConfiguration",
                "OfferService", "TestSupport", locks, crypto,
            ],
            swiftSettings: strict
        ),
        .testTarget(
            name: "OfferConfigurationTests",
            dependencies: [
                "OfferCore", "OfferEligibility", "OfferCrypto", "OfferTelemetry", "OfferHTTP", "OfferKeys",
                "OfferAudit", "OfferIdentity", "OfferConfiguration", "TestSupport", "StoreTestSupport", logging,
            ],
            swiftSettings: strict
        ),
        .testTarget(
            name: "SubscriberSyncTests",
            dependencies: [
                "OfferCore", "OfferEligibility", "OfferReports", "OfferCrypto", "OfferTelemetry", "OutgoingHTTP",
                "AppStoreData",
                "AppStoreAPI", "AppStoreConnect", "SubscriberStore", "OfferConfiguration", "SubscriberSync",
                "TestSupport", "AppStoreTestSupport", "AppStoreStandIn", "StoreTestSupport", locks, crypto, logging,
                nioCore,
                nioPosix, nioSSL, serviceLifecycle, nioHTTP1,
            ],
            swiftSettings: strict
        ),
        .testTarget(
            name: "OfferServiceTests",
            dependencies: [
                "OfferCore", "OfferEligibility", "OfferFiles", "OfferCrypto", "OfferTelemetry", "OutgoingHTTP",
                "OfferHTTP", "OfferKeys", "OfferAudit", "OfferIdentity", "AppStoreData", "AppStoreAPI",
                "SubscriberStore", "OfferExplanations", "OfferConfiguration", "SubscriberSync", "OfferService",
                "TestSupport", "AppStoreTestSupport", "AppStoreStandIn", "StoreTestSupport", "event-process", locks,
                crypto, cryptoExtras, logging, nioCore, nioEmbedded, nioHPACK, nioHTTP1, nioPosix, nioSSL,
                serviceLifecycle,
            ],
            swiftSettings: strict
        ),
        // Type-checks the example app. A library, because there is nothing to run.
        .target(name: "SwiftUI", path: "Tests/SwiftUIStandIn", swiftSettings: strict),
        .target(
            name: "Paywall", dependencies: ["OfferSignerClient", "StoreKit", "SwiftUI"], path: "Examples/Paywall",
            exclude: ["README.md"], swiftSettings: strict),
        .testTarget(
            name: "OfferSignerClientTests",
            dependencies: ["OfferSignerClient", "StoreKit", "offer-signer"], swiftSettings: strict),
        .testTarget(
            name: "OfferSigningTests",
            dependencies: ["OfferCore", "OfferCrypto", "OfferSigning", "OfferSignerClient", "TestSupport"],
            swiftSettings: strict),
        // The targets that scripts/fuzz feeds with generated input. The tests replay Tests/Fuzz/Corpora.
        .target(
            name: "FuzzTargets",
            dependencies: [
                "OfferCore", "OfferEligibility", "OfferCrypto", "OfferHTTP", "OfferPKCS11", "OfferKeys", "OfferAudit",
                "OfferConsole", "OfferIdentity", "AppStoreData", "AppStoreAPI", "AppStoreConnect", "OfferExplanations",
                "SubscriberStore", "OfferReports",
                "OfferConfiguration", "SubscriberSync", "OfferService", locks, logging, nioCore,
            ],
            path: "Tests/Fuzz/Targets",
            swiftSettings: strict
        ),
        .testTarget(
            name: "FuzzTests",
            dependencies: ["FuzzTargets", "TestSupport"],
            path: "Tests/Fuzz/Replay",
            swiftSettings: strict
        ),
        .testTarget(
            name: "CommandTests",
            dependencies: [
                "offer-signer", "notification-load", "store-load", "OfferCore", "OfferEligibility", "OfferCrypto",
                "OfferTelemetry", "OfferHTTP", "OfferAudit", "AppStoreData", "SubscriberStore", "OfferConfiguration",
                "SubscriberSync", "OfferService", "TestSupport", "AppStoreTestSupport", "AppStoreStandIn",
                "StoreTestSupport", "HistoryTestSupport", "SignInTestSupport", "OfferConsole", "ConsoleSamples", locks,
                "OfferSQLite", crypto, nioCore, nioPosix, yams,
            ],
            exclude: [
                "AllocationCounter.c.txt", "BadMachine.c.txt", "FaultyModule.c.txt", "HangingDisk.c.txt",
                "Network.c.txt",
                "SlowDisk.c.txt", "StoreKitStandIn.swift.txt",
            ],
            swiftSettings: strict
        ),
    ]
)

// libFuzzer provides the main function, so this target links only when scripts/fuzz builds it.
if ProcessInfo.processInfo.environment["OFFER_FUZZ"] != nil {
    package.targets.append(
        .executableTarget(
            name: "offer-fuzz", dependencies: ["FuzzTargets"], path: "Tests/Fuzz/Driver", swiftSettings: strict))
}

// Elsewhere, and so in Xcode, the package is only the client: nothing else builds there, and there is nothing to resolve.
#if !os(Linux)
    package.products.removeAll { $0.name != "OfferSignerClient" }
    package.dependencies = []
    package.targets.removeAll { $0.name != "OfferSignerClient" }
    // The system has Apple's StoreKit.
    for client in package.targets { client.dependencies = [] }
#endif
