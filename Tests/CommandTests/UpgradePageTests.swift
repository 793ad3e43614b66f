import Foundation
import TestSupport
import Testing

/// Runs the upgrade by hand in docs/deploy.md, with the same program as the old and the new version.
@Suite("docs/deploy.md: upgrade", .serialized, .timeLimit(.minutes(5)))
struct UpgradePageTests {
    @Test("the new process takes over the port, the old one exits, and both write to the same trail")
    func byHand() async throws {
        let walk = try await PageWalk("docs/deploy.md")
        try FileManager.default.createDirectory(
            at: walk.folder.url.appending(path: "new"), withIntermediateDirectories: false)
        try FileManager.default.createSymbolicLink(
            atPath: walk.folder.path + "/new/offer-signer", withDestinationPath: Command.offerSigner)
        let settings = "SUBSCRIPTION_OFFERS_KEY_ID=2X9R4HXF34\nSUBSCRIPTION_OFFERS_AUDIT_LOG=audit.jsonl\n"
        try walk.folder.write(settings.utf8, to: "offer-signer.env")
        let outcome = try walk.run(
            start: walk.block(6), walk.block(5), walk.block(7), "kill -0 $new", "wait $service", walk.block(8),
            "kill $new; wait $new; offer-signer audit verify audit.jsonl")
        #expect(outcome.status == 0, "\(outcome.standardError)")
        let lines = outcome.standardOutput.split(separator: "\n").filter {
            !["ok: ", "warning: ", "hint: "].contains(where: $0.hasPrefix)
        }
        #expect(lines.count == 6, "\(lines)")
        // These settings name no caller, so that the page's curl needs no token.
        #expect(lines.first?.hasPrefix(#"{"status":"degraded""#) == true)
        #expect(lines.first?.contains(#""problems":["no caller is configured, "#) == true)
        #expect(lines.contains("offer_signer_ready 1") && lines.contains("offer_signer_setup_problems 1"))
        #expect(lines.contains { $0.hasPrefix("offer_signer_build_info{") })
        #expect(lines.contains("last line: 3"))
        // Three lines: one begin, and one start per process.
        #expect(outcome.standardOutput.contains("ok: 3 lines, "))
    }
}
