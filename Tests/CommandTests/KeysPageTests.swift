import Foundation
import OfferCrypto
import TestSupport
import Testing

/// The walks of keys/README.md are walked, command by command.
@Suite("keys/README.md", .serialized, .timeLimit(.minutes(5)))
struct KeysPageTests {
    private let folder: TemporaryFolder
    private let blocks: [MarkdownBlock]
    /// One that was free a moment ago.
    private let port: Int

    init() throws {
        blocks = try MarkdownBlock.all(in: "keys/README.md")
        folder = try TemporaryFolder()
        for name in ["keys", "bin", "Downloads"] {
            try FileManager.default.createDirectory(
                at: folder.url.appending(path: name), withIntermediateDirectories: false)
        }
        try FileManager.default.createSymbolicLink(
            atPath: folder.path + "/bin/offer-signer", withDestinationPath: Command.offerSigner)
        try folder.write(PrivateKeyPEM.generate(), to: "keys/SubscriptionKey_2X9R4HXF34.p8")
        try folder.write(PrivateKeyPEM.generate(), to: "Downloads/SubscriptionKey_3Y8S5JYG45.p8")
        let service = try RunningService()
        port = service.port
        _ = service.stop()
    }

    /// Runs commands with a service at work: `$service` is its process ID.
    private func run(start: String, _ commands: String...) throws -> Command.Outcome {
        let script = """
            { \(start.replacing("offer-signer serve", with: "exec offer-signer serve")) } >out 2>log &
            service=$!
            until grep -q http out; do kill -0 $service || { cat log >&2; exit 1; }; sleep 0.05; done
            \(commands.joined(separator: "\n"))
            """
        return try Command.run(
            "bash", ["-e", "-c", script.replacing("$(pidof offer-signer)", with: "$service")],
            environment: [
                "HOME": folder.path, "PATH": "\(folder.path)/bin:/usr/bin:/bin", "SUBSCRIPTION_OFFERS_PORT": "\(port)",
            ],
            directory: folder.url)
    }

    /// A block with the port of this run in place of the default one.
    private func block(_ index: Int) -> String { blocks[index].text.replacing(":8080", with: ":\(port)") }

    private let hangUp = #"kill -HUP $(pidof offer-signer)"#

    /// A person is slower than a test.
    private var hangUpAndWait: String {
        "\(hangUp); until curl -sS http://127.0.0.1:\(port)/health/ready | grep -q 3Y8S5JYG45; do sleep 0.1; done"
    }

    /// What `/health/ready` says in the end.
    private var ready: String { blocks[2].text.trimmingCharacters(in: .newlines) }

    /// Prints the ID of the key that signs.
    private var printKeyID: String {
        """
        curl -sS http://127.0.0.1:\(port)/offer -H 'Content-Type: application/json' \
        -d '{"appBundleID":"a","productIdentifier":"p","offerID":"o","applicationUsername":""}' | cut -d '"' -f 4
        """
    }

    @Test("no walk is without a test")
    func everyBlockIsKnown() {
        #expect(blocks.map(\.language) == ["sh", "sh", "json", "sh", "sh", "sh", "sh"])
    }

    @Test("rotation without a restart, and the old file removed")
    func withoutRestart() throws {
        let outcome = try run(
            start: block(0), printKeyID, block(1).replacing(hangUp, with: hangUpAndWait),
            "echo", printKeyID, block(3), "sleep 5",
            "curl -sS http://127.0.0.1:\(port)/health/ready; echo", "kill $service; wait $service")
        #expect(outcome.status == 0, "\(outcome.standardError)")
        let lines = outcome.standardOutput.split(separator: "\n").filter { !$0.hasPrefix("ok: ") }
        #expect(lines.map(String.init) == ["2X9R4HXF34", ready, "3Y8S5JYG45", ready])
        #expect(outcome.standardOutput.contains("ok: key 3Y8S5JYG45 signs"))
    }

    @Test("rotation with a restart")
    func withRestart() throws {
        let outcome = try run(
            start: block(4), printKeyID, block(5).replacing("reuse-port &", with: "reuse-port >next 2>&1 &"),
            "wait $service", printKeyID, "kill $new; wait $new")
        #expect(outcome.status == 0, "\(outcome.standardError)")
        #expect(outcome.standardOutput == "2X9R4HXF34\n\(ready)\n3Y8S5JYG45\n")
    }

    @Test("a key that has leaked")
    func leaked() throws {
        let outcome = try run(
            start: block(0), block(6).replacing(hangUp, with: hangUpAndWait), "echo",
            printKeyID, "kill $service; wait $service")
        #expect(outcome.status == 0, "\(outcome.standardError)")
        #expect(outcome.standardOutput.contains("ok: key 3Y8S5JYG45 signs"))
        #expect(outcome.standardOutput.hasSuffix("\(ready)\n3Y8S5JYG45\n"))
    }
}
