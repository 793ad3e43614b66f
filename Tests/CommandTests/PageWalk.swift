import Foundation
import OfferAudit
import OfferCrypto
import TestSupport

/// A folder where a page's commands run unchanged except for the port.
struct PageWalk: Sendable {
    let folder: TemporaryFolder
    let blocks: [MarkdownBlock]
    let port: Int

    /// - Parameter page: the page's path, relative to the repository root.
    init(_ page: String) async throws {
        blocks = try MarkdownBlock.all(in: page)
        folder = try TemporaryFolder()
        for name in ["keys", "bin", "Downloads"] {
            try FileManager.default.createDirectory(
                at: folder.url.appending(path: name), withIntermediateDirectories: false)
        }
        try FileManager.default.createSymbolicLink(
            atPath: folder.path + "/bin/offer-signer", withDestinationPath: Command.offerSigner)
        try folder.write(PrivateKeyPEM.generate(), to: "keys/SubscriptionKey_2X9R4HXF34.p8")
        try folder.write(PrivateKeyPEM.generate(), to: "Downloads/SubscriptionKey_3Y8S5JYG45.p8")
        port = try await FreePort.find()
    }

    /// A code block, with this run's port in place of the default.
    func block(_ index: Int) -> String { blocks[index].text.replacing(":8080", with: ":\(port)") }

    /// Runs commands while the service started by `start` runs; `$service` is its process ID.
    func run(start: String, _ commands: String...) throws -> Command.Outcome {
        try shell(
            """
            trap 'kill $(jobs -p) 2>/dev/null || true' EXIT
            { \(start.replacing("offer-signer serve", with: "exec offer-signer serve")) } >out 2>log &
            service=$!
            until grep -q http out; do kill -0 $service || { cat log >&2; exit 1; }; sleep 0.05; done
            \(commands.joined(separator: "\n").replacing("$(pidof offer-signer)", with: "$service"))
            """)
    }

    /// Runs a script, which stops at its first failing command.
    func shell(_ script: String) throws -> Command.Outcome {
        try Command.run(
            "bash", ["-e", "-c", script],
            environment: [
                "HOME": folder.path, "PATH": "\(folder.path)/bin:/usr/bin:/bin", "SUBSCRIPTION_OFFERS_PORT": "\(port)",
            ],
            directory: folder.url)
    }
}
