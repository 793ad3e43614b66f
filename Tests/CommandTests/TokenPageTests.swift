import Foundation
import TestSupport
import Testing

/// Runs the first walkthrough in docs/keys-in-tokens.md. scripts/package-test runs that of p11-kit server, as root under systemd.
@Suite("docs/keys-in-tokens.md", .serialized, .timeLimit(.minutes(5)))
struct TokenPageTests {
    private let walk: PageWalk
    private let token: SoftHSM

    init() async throws {
        walk = try await PageWalk("docs/keys-in-tokens.md")
        token = try SoftHSM()
    }

    /// A block of the page, with this run's PIN file in place of the page's.
    private func block(_ index: Int) -> String {
        walk.block(index).replacing("/etc/offer-signer/offers.pin", with: token.pinFile)
    }

    /// Runs a script that finds the token.
    private func shell(_ script: String) throws -> Command.Outcome {
        let variables = token.environment.map { "export \($0)='\($1)'\n" }.joined()
        return try walk.shell(variables + script)
    }

    @Test("the blocks are those that tests and scripts/package-test run")
    func everyBlockIsKnown() {
        #expect(
            walk.blocks.map(\.language) == ["sh", "yaml", "sh", "sh", "ini", "ini", "yaml", "sh", "sh", "sh"])
    }

    @Test("the import prints the entry on the page; the key signs with it, and goes back to its file")
    func importing() throws {
        let file = "SubscriptionKey_2X9R4HXF34.p8"
        let entry = block(1)
        let fields = #"{"appBundleID":"a","productIdentifier":"p","offerID":"o","applicationUsername":"u"}"#
        let outcome = try shell(
            """
            cp keys/\(file) .
            \(block(0))
            cat >offers.yaml <<'TEXT'
            \(entry)TEXT
            export SUBSCRIPTION_OFFERS_CONFIG=$PWD/offers.yaml SUBSCRIPTION_OFFERS_KEY_ID=2X9R4HXF34
            offer-signer keys list --keys-dir keys
            rm keys/*
            offer-signer keys check --keys-dir keys
            echo '\(fields)' | offer-signer sign --keys-dir keys
            cp \(file) keys/ && rm offers.yaml
            SUBSCRIPTION_OFFERS_CONFIG= offer-signer keys check --keys-dir keys
            """)
        #expect(outcome.status == 0, "\(outcome)")
        #expect(outcome.standardOutput.contains(entry), "\(outcome.standardOutput)")
        #expect(outcome.standardOutput.contains("token offers"))
        #expect(outcome.standardOutput.contains(#""keyID":"2X9R4HXF34""#))
        // Printed by the import, and by a check with the token and then with the file.
        #expect(outcome.standardOutput.ranges(of: " signs ").count == 3, "\(outcome.standardOutput)")
    }
}
