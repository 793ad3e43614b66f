import Foundation
import TestSupport
import Testing

/// Runs the walkthroughs in keys/README.md, command by command.
@Suite("keys/README.md", .serialized, .timeLimit(.minutes(5)))
struct KeysPageTests {
    private let walk: PageWalk

    init() async throws { walk = try await PageWalk("keys/README.md") }

    private var port: Int { walk.port }

    private let hangUp = #"kill -HUP $(pidof offer-signer)"#

    /// Sends the signal and waits for its effect, because a test is faster than a person.
    private var hangUpAndWait: String {
        "\(hangUp); until curl -sS http://127.0.0.1:\(port)/health/ready | grep -q 3Y8S5JYG45; do sleep 0.1; done"
    }

    /// The `/health/ready` response that the page shows after a rotation.
    private var ready: String { walk.blocks[2].text.trimmingCharacters(in: .newlines) }

    /// Prints the ID of the key that signs.
    private var printKeyID: String {
        """
        curl -sS http://127.0.0.1:\(port)/offer -H 'Content-Type: application/json' \
        -d '{"appBundleID":"a","productIdentifier":"p","offerID":"o","applicationUsername":""}' | cut -d '"' -f 4
        """
    }

    @Test("every walkthrough has a test")
    func everyBlockIsKnown() {
        #expect(walk.blocks.map(\.language) == ["sh", "sh", "json", "sh", "sh", "sh", "sh"])
    }

    @Test("the walkthrough rotates a key without a restart and removes the old file")
    func withoutRestart() throws {
        let outcome = try walk.run(
            start: walk.block(0), printKeyID, walk.block(1).replacing(hangUp, with: hangUpAndWait),
            "echo", printKeyID, walk.block(3), "sleep 5",
            "curl -sS http://127.0.0.1:\(port)/health/ready; echo", "kill $service; wait $service")
        #expect(outcome.status == 0, "\(outcome.standardError)")
        let lines = outcome.standardOutput.split(separator: "\n").filter {
            !["ok: ", "warning: ", "hint: "].contains(where: $0.hasPrefix)
        }
        #expect(lines.map(String.init) == ["2X9R4HXF34", ready, "3Y8S5JYG45", ready])
        #expect(outcome.standardOutput.contains("ok: key 3Y8S5JYG45 signs"))
    }

    @Test("the walkthrough rotates a key with a restart")
    func withRestart() throws {
        let outcome = try walk.run(
            start: walk.block(4), printKeyID, walk.block(5).replacing("reuse-port &", with: "reuse-port >next 2>&1 &"),
            "wait $service", printKeyID, "kill $new; wait $new")
        #expect(outcome.status == 0, "\(outcome.standardError)")
        #expect(outcome.standardOutput == "2X9R4HXF34\n\(ready)\n3Y8S5JYG45\n")
    }

    @Test("the walkthrough replaces a leaked key")
    func leaked() throws {
        let outcome = try walk.run(
            start: walk.block(0), walk.block(6).replacing(hangUp, with: hangUpAndWait), "echo",
            printKeyID, "kill $service; wait $service")
        #expect(outcome.status == 0, "\(outcome.standardError)")
        #expect(outcome.standardOutput.contains("ok: key 3Y8S5JYG45 signs"))
        #expect(outcome.standardOutput.hasSuffix("\(ready)\n3Y8S5JYG45\n"))
    }
}
