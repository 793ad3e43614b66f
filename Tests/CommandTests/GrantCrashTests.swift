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

    private let folder: TemporaryFolder
    private var database: String { folder.path + "/subscribers.sqlite" }
    private var trail: String { folder.path + "/audit.jsonl" }
    private var lines: String { (try? String(contentsOfFile: trail, encoding: .utf8)) ?? "" }
    private var arguments: [String] {
        ["--config", folder.path + "/offers.yaml", "--database", "sqlite:\(database)", "--audit-log", trail]
    }

    init() throws {
        folder = try TemporaryFolder()
        try folder.write(
            """
            apps:
              - bundleID: com.example.app
                appAppleID: 1234567890
                grants: {dailyBudget: 0}
                products:
                  - {productID: monthly, offers: [{offerID: keep, rule: win_back, limits: {perCustomer: 1}}]}
            """.utf8, to: "offers.yaml")
    }

    private func addCustomer(to service: RunningService) async throws {
        let facts = try await onOwnThread {
            try Command.run(
                "curl",
                [
                    "-fsS", "-X", "PUT", "http://127.0.0.1:\(service.port)/v1/customers/facts",
                    "-H", "Content-Type: application/json", "-d", Self.facts,
                ])
        }
        try #require(facts.status == 0, "\(facts.standardError)")
    }

    private func verifyTrail() throws {
        let audit = try Command.runOfferSigner(["audit", "verify", trail])
        #expect(audit.status == 0, "\(audit.standardError)")
    }

    @Test("a process that is killed between the audit line and the grant leaves the line, and no grant")
    func killed() async throws {
        let service = try RunningService(arguments: arguments)
        try await addCustomer(to: service)
        let lock = try await onOwnThread { try DatabaseLock(database) }
        // The service writes the line, and then waits for the database.
        let answer = Task { try? await service.post("/v1/grants", Self.order) }
        try await waitUntil { lines.contains(#""kind":"customer_grant""#) }
        service.killAtOnce()
        #expect(await answer.value?.status != 200)
        try lock.release()

        let next = try RunningService(arguments: arguments)
        let grants = try await next.get("/v1/grants?bundleID=com.example.app").text
        #expect(grants.contains(#""grants":[]"#), "\(grants)")
        // The customer can get the grant now, which has a line of its own.
        #expect(try await next.post("/v1/grants", Self.order).status == 200)
        #expect(lines.ranges(of: #""kind":"customer_grant""#).count == 2)
        #expect(next.stop() == 0)
        try verifyTrail()
    }

    @Test("the same holds for a grant and its approval in the console")
    func killedConsole() async throws {
        let arguments = arguments + ["--console-address", "127.0.0.1:0"]
        let first = try await Session(RunningService(arguments: arguments), database, trail, as: "Ada")
        try await addCustomer(to: first.service)
        let order = [
            "app=com.example.app", "environment=Production", "kind=appAccountToken",
            "id=d3b07384-d113-4ec6-a7b1-6f1c2f5e9b10", "product=monthly", "offer=keep", "reason=goodwill", "days=14",
        ]
        try await killed(first, "/grant", order, line: "console_grant")
        let second = try await Session(RunningService(arguments: arguments), database, trail, as: "Ada")
        func grants(_ service: RunningService) async throws -> String {
            try await service.get("/v1/grants?bundleID=com.example.app").text
        }
        #expect(try await grants(second.service).contains(#""grants":[]"#))
        #expect(try await second.post("/grant", order) == "303")
        let grant = try #require(
            try await grants(second.service).firstMatch(of: /"id":"([0-9a-f-]{36})"/)?.output.1)
        let bob = try await Session(second.service, database, trail, as: "Bob")
        try await killed(bob, "/grants/approve", ["grant=\(grant)"], line: "console_grant_approved")
        let third = try await Session(RunningService(arguments: arguments), database, trail, as: "Bob")
        #expect(try await grants(third.service).contains(#""state":"awaiting_approval""#))
        #expect(try await third.post("/grants/approve", ["grant=\(grant)"]) == "303")
        #expect(try await grants(third.service).contains(#""state":"open""#))
        for kind in ["console_grant", "console_grant_approved"] {
            #expect(lines.ranges(of: "\"kind\":\"\(kind)\"").count == 2, "\(kind)")
        }
        #expect(third.service.stop() == 0)
        try verifyTrail()
    }

    /// Kills a service that has written the line of an act, and waits for the database.
    private func killed(_ session: Session, _ path: String, _ fields: [String], line: String) async throws {
        let lock = try await onOwnThread { try DatabaseLock(database) }
        let answer = Task { try? await session.post(path, fields) }
        try await waitUntil { lines.contains("\"kind\":\"\(line)\"") }
        session.service.killAtOnce()
        #expect(await answer.value == "000", "\(path) was not answered")
        try lock.release()
    }

    /// A person who is signed in to the console of a service.
    private struct Session {
        let service: RunningService
        let url: String
        let cookies: TemporaryFolder

        init(_ service: RunningService, _ database: String, _ trail: String, as name: String) async throws {
            self.service = service
            cookies = try TemporaryFolder()
            try await waitUntil { (try? service.output.contains("the console is on")) == true }
            let output = try service.output
            let announced = try #require(output.firstMatch(of: /the console is on (http:\/\/127\.0\.0\.1:\d+)/))
            let url = String(announced.output.1)
            self.url = url
            let link = try await onOwnThread {
                try Command.runOfferSigner(
                    ["console", "sign-in", "--name", name, "--role", "support", "--console-url", url],
                    environment: [
                        "SUBSCRIPTION_OFFERS_DATABASE": "sqlite:\(database)", "SUBSCRIPTION_OFFERS_AUDIT_LOG": trail,
                        "SUBSCRIPTION_OFFERS_CONSOLE_ADDRESS": "127.0.0.1:0",
                    ])
            }
            try #require(link.status == 0, "\(link.standardError)")
            let token = try #require(link.standardOutput.split(separator: "=").last)
            let answer = try await post(
                "/sign-in/link", ["token=\(token.trimmingCharacters(in: .newlines))"])
            try #require(answer == "303", "\(answer)")
        }

        /// Sends a form as a browser does, and returns the status; 000 if there is no answer.
        func post(_ path: String, _ fields: [String]) async throws -> String {
            let jar = cookies.path + "/jar"
            return try await onOwnThread {
                try Command.run(
                    "curl",
                    ["-sS", "-o", "/dev/null", "-w", "%{http_code}", "-b", jar, "-c", jar, url + path]
                        + ["-H", "Sec-Fetch-Site: same-origin"] + fields.flatMap { ["--data-urlencode", $0] }
                ).standardOutput
            }
        }
    }
}
