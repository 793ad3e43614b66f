import Foundation
import TestSupport
import Testing

/// Runs the walkthrough in docs/app-store-data.md, and `offer-signer app-store inspect` on what it makes.
@Suite("offer-signer app-store inspect", .serialized, .timeLimit(.minutes(5)))
struct AppStoreInspectTests {
    private let walk: PageWalk

    init() async throws {
        walk = try await PageWalk("docs/app-store-data.md")
        let made = try walk.shell(walk.block(2) + walk.block(3))
        #expect(made.status == 0, "\(made.standardError)")
    }

    private static let trusted = ["--roots", "root.pem"]

    private func inspect(
        _ arguments: [String] = [], input: [UInt8]? = nil, environment: [String: String] = [:]
    ) throws -> Command.Outcome {
        try Command.run(
            Command.offerSigner, ["app-store", "inspect"] + arguments,
            input: input ?? walk.folder.read("transaction.jws"), environment: environment, directory: walk.folder.url)
    }

    private static func members(_ outcome: Command.Outcome) throws -> [String: Any] {
        try #require(JSONSerialization.jsonObject(with: Data(outcome.standardOutput.utf8)) as? [String: Any])
    }

    /// The `reason` of each line of output, or `verified`.
    private static func results(_ output: String) -> [String] {
        output.split(separator: "\n").map { line in
            line.firstMatch(of: /"reason":"(\w+)"/).map { String($0.output.1) }
                ?? (line.hasPrefix(#"{"verified":true"#) ? "verified" : String(line))
        }
    }

    @Test("every code block on the page has a test")
    func everyBlockIsKnown() {
        #expect(walk.blocks.map(\.language) == Array(repeating: "sh", count: 7))
    }

    @Test("the walkthrough prints what the page says")
    func walkthrough() throws {
        let commands = (walk.block(4) + walk.block(5)).split(separator: "\n").map { "\($0) || echo $?" }
        let outcome = try walk.shell(commands.joined(separator: "\n"))
        #expect(outcome.status == 0 && outcome.standardError.isEmpty, "\(outcome.standardError)")
        #expect(
            Self.results(outcome.standardOutput) == [
                "root_not_trusted", "1", "verified", "another_bundle_id", "1", "certificate_expired", "1",
                "signature_invalid", "1",
            ])
        let page = try MarkdownPage("docs/app-store-data.md").prose
        let lines = outcome.standardOutput.split(separator: "\n")
        try #require(lines.count > 2)
        for (line, length) in [(lines[0], 67), (lines[2], 38)] { #expect(page.contains(line.prefix(length))) }
    }

    @Test("the other commands on the page run")
    func examples() throws {
        let outcome = try walk.shell(
            """
            \(walk.block(6))
            pbpaste() { cat transaction.jws; }
            printf '{"signedPayload":"%s"}' "$(cat transaction.jws)" > notification.json
            echo aGVsbG8= > receipt.txt
            cp root.pem StoreKitTestCertificate.cer
            \((walk.block(0) + walk.block(1)).split(separator: "\n").map { "\($0) || echo $?" }.joined(separator: "\n"))
            """)
        #expect(outcome.status == 0)
        // The page sets the variable.
        let note = "note: SUBSCRIPTION_OFFERS_APP_STORE_ROOTS is set, so its roots are trusted in place of Apple's"
        #expect(Set(outcome.standardError.split(separator: "\n")) == [Substring(note)], "\(outcome.standardError)")
        #expect(
            Self.results(outcome.standardOutput) == [
                "verified", "environment_not_accepted", "1", "not_recognised", "1", "verified",
            ])
    }

    @Test("the output has the payload as signed and the certificates up to the root")
    func output() throws {
        let outcome = try inspect(Self.trusted)
        #expect(outcome.status == 0 && outcome.standardError.isEmpty)
        let members = try Self.members(outcome)
        #expect(members["kind"] as? String == "transaction")
        #expect((members["payload"] as? [String: Any])?["transactionId"] as? String == "2000000000000042")
        let certificates = try #require(members["certificates"] as? [[String: String]])
        #expect(
            certificates.map { $0["subject"] } == [
                "CN=Test Receipt Signing", "CN=Test Developer Relations", "CN=Test Root",
            ])
        let fingerprint = try walk.shell("openssl x509 -in root.pem -outform DER | sha256sum").standardOutput
        #expect(certificates.last?["fingerprint"] == String(fingerprint.prefix(64)))
    }

    @Test("roots come from the flag, or else from the environment, in a file or a folder")
    func roots() throws {
        let copied = try walk.shell(
            "mkdir roots; cp root.pem roots/a.pem; openssl x509 -in root.pem -outform DER -out b.cer")
        #expect(copied.status == 0, "\(copied.standardError)")
        for path in ["root.pem", "b.cer", "roots"] {
            #expect(try inspect(["--roots", path]).status == 0)
            let environment = ["SUBSCRIPTION_OFFERS_APP_STORE_ROOTS": path]
            #expect(try inspect(environment: environment).status == 0)
            #expect(try inspect(["--roots", "leaf.pem"], environment: environment).status == 1)
        }
    }

    @Test(
        "roots that cannot be read stop the command",
        arguments: [
            ("none.pem", "does not exist"), ("empty", "has no files"), ("root.key", "contains no certificate"),
            ("open.pem", "can be written by others"), ("broken.cer", "something that is not a certificate"),
        ])
    func unreadableRoots(path: String, error: String) throws {
        _ = try walk.shell("mkdir empty; cp root.pem open.pem; chmod 666 open.pem; printf '0\\202ab' > broken.cer")
        let outcome = try inspect(["--roots", path])
        #expect(outcome.status == 1 && outcome.standardOutput.isEmpty)
        #expect(outcome.standardError.hasPrefix("error: ") && outcome.standardError.contains(error))
    }

    @Test(
        "a wrong option is wrong usage",
        arguments: [
            ["--as", "purchase"], ["--as", "legacy-receipt"], ["--at", "yesterday"], ["--bundle-id", ""],
            ["--app-apple-id", "0"], ["--environment", "production"], ["--device-identifier", "0123"], ["file"],
        ])
    func usage(arguments: [String]) throws {
        let outcome = try inspect(arguments)
        #expect(outcome.status == 64 && outcome.standardOutput.isEmpty)
    }

    @Test("every option is understood")
    func options() throws {
        let outcome = try inspect(
            Self.trusted + [
                "--as", "transaction", "--bundle-id", "com.example.app", "--app-apple-id", "1234567890",
                "--environment", "Sandbox", "--at", "\(Int64(Date.now.timeIntervalSince1970 * 1000))",
                "--device-identifier", "AA:BB:CC:00:11:22", "--development",
            ])
        #expect(outcome.status == 0, "\(outcome.standardOutput)")
    }

    @Test("input that is no App Store data is refused, and input that is too large is not read")
    func otherInput() throws {
        for text in ["", "hello", "{}"] {
            let outcome = try inspect(input: Array(text.utf8))
            #expect(outcome.status == 1)
            #expect(
                outcome.standardOutput.hasPrefix(
                    #"{"verified":false,"kind":null,"reason":"not_recognised","sentence":"#))
        }
        let large = try inspect(input: Array(repeating: UInt8(ascii: "A"), count: 8 * 1024 * 1024 + 1))
        #expect(large.status == 1 && large.standardOutput.isEmpty)
        #expect(large.standardError == "error: the input is larger than 8388608 bytes\n")
    }

    @Test("--help shows an example for a file and one for a pipe")
    func help() throws {
        let help = try inspect(["--help"]).standardOutput
        #expect(help.contains("inspect < notification.json") && help.contains("pbpaste | "))
    }
}
