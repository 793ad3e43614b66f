import Foundation
import TestSupport
import Testing

/// A process that is killed after the audit line of a grant, and before the grant.
@Suite("Grants and crashes", .timeLimit(.minutes(5)))
struct GrantCrashTests {
    private static let order = #"""
        {"bundleID":"com.example.app","appAccountToken":"d3b07384-d113-4ec6-a7b1-6f1c2f5e9b10","productID":"monthly",\#
        "offerID":"keep","reason":"goodwill"}
        """#

    /// Makes the customer known.
    private static let facts = #"""
        {"bundleID":"com.example.app","appAccountToken":"d3b07384-d113-4ec6-a7b1-6f1c2f5e9b10",\#
        "environment":"Production","facts":{"episodes":1}}
        """#

    @Test("a process that is killed between the audit line and the grant leaves the line, and no grant")
    func killed() async throws {
        let folder = try TemporaryFolder()
        try folder.write(
            """
            apps:
              - bundleID: com.example.app
                appAppleID: 1234567890
                grants: {}
                products:
                  - {productID: monthly, offers: [{offerID: keep, rule: win_back, limits: {perCustomer: 1}}]}
            """.utf8, to: "offers.yaml")
        let (database, trail) = (folder.path + "/subscribers.sqlite", folder.path + "/audit.jsonl")
        let arguments = [
            "--config", folder.path + "/offers.yaml", "--database", "sqlite:\(database)", "--audit-log", trail,
        ]
        let service = try RunningService(arguments: arguments)
        let lines = { (try? String(contentsOfFile: trail, encoding: .utf8)) ?? "" }
        let facts = try await onOwnThread {
            try Command.run(
                "curl",
                [
                    "-fsS", "-X", "PUT", "http://127.0.0.1:\(service.port)/v1/customers/facts",
                    "-H", "Content-Type: application/json", "-d", Self.facts,
                ])
        }
        try #require(facts.status == 0, "\(facts.standardError)")
        let lock = try await onOwnThread { try DatabaseLock(database) }
        // The service writes the line, and then waits for the database.
        let answer = Task { try? await service.post("/v1/grants", Self.order) }
        try await waitUntil { lines().contains(#""kind":"customer_grant""#) }
        service.killAtOnce()
        #expect(await answer.value?.status != 200)
        try lock.release()

        let next = try RunningService(arguments: arguments)
        let grants = try await next.get("/v1/grants?bundleID=com.example.app").text
        #expect(grants.contains(#""grants":[]"#), "\(grants)")
        // The customer can get the grant now, which has a line of its own.
        #expect(try await next.post("/v1/grants", Self.order).status == 200)
        #expect(lines().ranges(of: #""kind":"customer_grant""#).count == 2)
        #expect(next.stop() == 0)
        let audit = try Command.runOfferSigner(["audit", "verify", trail])
        #expect(audit.status == 0, "\(audit.standardError)")
    }
}
