import Foundation

/// Files outside the test target.
enum Locations {
    static let repository = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()

    /// The folder of the programs and modules that were built with the tests.
    static let products = URL(fileURLWithPath: CommandLine.arguments[0]).resolvingSymlinksInPath()
        .deletingLastPathComponent()

    /// The service that was built with the tests, or that in the folder `TEST_PROGRAMS`.
    static let offerSigner: URL = {
        let folder = ProcessInfo.processInfo.environment["TEST_PROGRAMS"].map { URL(fileURLWithPath: $0) }
        return (folder ?? products).appendingPathComponent("offer-signer")
    }()

    static let openAPI = repository.appendingPathComponent("Sources/OfferService/OpenAPI/openapi.json")
}
