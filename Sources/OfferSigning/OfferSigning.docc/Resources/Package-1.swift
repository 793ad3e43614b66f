// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "OfferServer",
    dependencies: [
        // In a project of your own: .package(url: "…", .upToNextMinor(from: "…")).
        .package(name: "offer-signer", path: "../.."),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1"),
    ],
    targets: [
        .executableTarget(
            name: "OfferServer",
            dependencies: [
                .product(name: "OfferSigning", package: "offer-signer"),
                .product(name: "Hummingbird", package: "hummingbird"),
            ])
    ]
)
