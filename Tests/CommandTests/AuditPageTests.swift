import Foundation
import OfferAudit
import OfferCore
import OfferCrypto
import OfferEligibility
import TestSupport
import Testing

/// Runs the commands in docs/audit.md on a real trail and compares the page's table of members with that trail.
@Suite("docs/audit.md", .serialized, .timeLimit(.minutes(5)))
struct AuditPageTests {
    private let walk: PageWalk

    init() async throws { walk = try await PageWalk("docs/audit.md") }

    /// Requests offers for two customers, including the one on the page.
    private var ask: String {
        """
        for user in 8d7f9a52c4e1 another 8d7f9a52c4e1; do
          curl -sS http://127.0.0.1:\(walk.port)/offer -H 'Content-Type: application/json' -o answer -d '{"appBundleID":"a",
            "productIdentifier":"p","offerID":"o","applicationUsername":"'$user'"}'
        done
        """
    }

    @Test("every code block on the page has a test")
    func everyBlockIsKnown() {
        #expect(walk.blocks.map(\.language) == ["sh", "json", "sh", "sh", "sh", "text", "python", "sh", "sh"])
    }

    @Test("openssl finds a customer's lines, a prefix identifies the key, and the chain verifies")
    func commands() throws {
        let outcome = try walk.run(
            start: walk.block(0), ask, "mv audit.jsonl audit.jsonl.1", ask, "kill $service; wait $service",
            walk.block(2), "echo", walk.block(3), "echo", walk.block(4))
        #expect(outcome.status == 0, "\(outcome.standardError)")
        let parts = outcome.standardOutput.split(separator: "\n", omittingEmptySubsequences: false)
        let found = parts.prefix { !$0.isEmpty }
        #expect(found.count == 4 && found.allSatisfy { $0.contains("\"outcome\":\"signed\"") })
        let keys = parts.dropFirst(found.count + 1).prefix { !$0.isEmpty }
        #expect(keys.count == 2)
        #expect(keys.last?.trimmingCharacters(in: .whitespaces) == "1 \"customerKey\":\"\(keys.first ?? "")\"")
        // Nine lines: a begin and a start, a begin for the second file, and six offers.
        let shape = walk.block(5).replacing("5", with: "9").replacing(/[0-9a-f]{64}/, with: "H")
        let verified = parts.dropFirst(found.count + keys.count + 2).joined(separator: "\n")
        #expect(verified.replacing(/[0-9a-f]{64}/, with: "H") == shape)
    }

    @Test("files that logrotate renamed and compressed verify together with the current file")
    func compressed() throws {
        let outcome = try walk.run(
            start: walk.block(0), ask, "mv audit.jsonl audit.jsonl-20260101", ask, "gzip audit.jsonl-20260101",
            "mv audit.jsonl audit.jsonl-20260201", ask, "kill $service; wait $service", walk.block(7))
        #expect(outcome.status == 0, "\(outcome.standardError)")
        // Three begins, one start and nine offers.
        #expect(outcome.standardOutput.hasPrefix("ok: 13 lines, "))
    }

    @Test("the example line on the page has the same members as a real line, in the same order")
    func line() throws {
        let token = "ost_0123456789abcdef01234567"
        let outcome = try walk.run(
            start: "export SUBSCRIPTION_OFFERS_API_TOKENS=backend=\(token)\n" + walk.block(0),
            ask.replacing(" -H 'Content", with: " -H 'Authorization: Bearer \(token)' -H 'Content"),
            "kill $service; wait $service", "tail -n 1 audit.jsonl")
        func members(_ line: String) -> [String] { line.matches(of: /"([a-zA-Z]+)":/).map { String($0.output.1) } }
        #expect(members(outcome.standardOutput) == members(walk.block(1)))
        #expect(AuditLine(Array(walk.block(1).trimmingCharacters(in: .newlines).utf8)[...]) != nil)
    }

    @Test("openssl finds the lines of an address")
    func address() throws {
        let outcome = try walk.run(
            start: walk.block(0), ask, "kill $service; wait $service", "{\n\(walk.block(2))} >/dev/null",
            walk.block(8).replacing("192.0.2.1", with: "127.0.0.1"))
        #expect(outcome.status == 0, "\(outcome.standardError)")
        #expect(outcome.standardOutput.split(separator: "\n").count == 3)
    }

    private static let hasPython = FileManager.default.isExecutableFile(atPath: "/usr/bin/python3")

    @Test(
        "the script on the page agrees with audit verify", .enabled(if: hasPython, "requires python3"),
        arguments: ["sha256", "hmac"])
    func script(chain: String) throws {
        #expect(
            try walk.run(
                start: "export SUBSCRIPTION_OFFERS_AUDIT_CHAIN=\(chain)\n" + walk.block(0), ask,
                "mv audit.jsonl old.jsonl", ask, "kill $service; wait $service"
            ).status == 0)
        try walk.folder.write(walk.blocks[6].text.utf8, to: "verify.py")
        let (old, new) = (try lines("old.jsonl"), try lines("audit.jsonl"))
        func compare(_ files: [String]..., isGood: Bool) throws {
            let names = try files.enumerated().map { number, lines in
                try walk.folder.write(lines.map { $0 + "\n" }.joined().utf8, to: "\(number).jsonl")
                return "\(number).jsonl"
            }.joined(separator: " ")
            let settings = "set -a; . ./offer-signer.env; set +a; "
            let ours = try walk.shell(settings + "offer-signer audit verify \(names)")
            let theirs = try walk.shell(settings + "/usr/bin/python3 verify.py \(names)")
            #expect((ours.status == 0) == isGood && (theirs.status == 0) == isGood, "\(ours) \(theirs)")
            guard isGood else { return }
            let words = ours.standardOutput.split(separator: "\n").suffix(2).compactMap {
                $0.split(separator: " ").last
            }
            #expect(theirs.standardOutput == words.joined(separator: " ") + "\n")
        }
        try compare(old, new, isGood: true)
        try compare(new, isGood: true)
        try compare(new, old, isGood: true)
        try compare(Array(old.dropFirst()), new, isGood: false)
        try compare(old, Array(new.dropFirst()), isGood: false)
        try compare(old.dropLast() + [old[2]], isGood: false)
        if chain == "hmac" {
            // Lines that anyone can write, after lines with an HMAC.
            let forged = try unkeyed(after: new)
            try compare(old, new + [forged], isGood: false)
        }
        for number in old.indices {
            var altered = old
            altered[number] = altered[number].replacing("\"time\":\"2", with: "\"time\":\"3")
            try compare(altered, new, isGood: false)
        }
    }

    /// A line without an HMAC that continues these lines.
    private func unkeyed(after lines: [String]) throws -> String {
        let last = try #require(lines.last.flatMap { AuditLine(Array($0.utf8)[...]) })
        var (chain, text) = (AuditChain(number: last.number, hash: last.hash), [UInt8]())
        try chain.append(to: &text) { $0.member("outcome", "signed") }
        return String(decoding: text.dropLast(), as: UTF8.self)
    }

    private func lines(_ name: String) throws -> [String] {
        try walk.folder.lines(name)
    }

    @Test("the table lists exactly the trail's members, events and kinds")
    func members() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/audit.jsonl"
        try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: "/dev/full")
        let service = try RunningService(
            environment: ["SUBSCRIPTION_OFFERS_AUDIT_LOG": path, "SUBSCRIPTION_OFFERS_ISSUER_ID": ""])
        try folder.remove("audit.jsonl")
        func text() -> String { String(decoding: (try? folder.read("audit.jsonl")) ?? [], as: UTF8.self) }
        try await waitUntil { text().contains("\"resume\"") }
        try await Connection.open(port: service.port) { connection in
            #expect(try await connection.post("/offer", json: BadRequest.goodBody)?.status == 200)
            // Without an issuer ID, the service refuses each of these requests.
            let refused = #"{"bundleID":"a","request":{"operation":"x"}}"#
            try await waitUntil {
                for _ in 0..<150 { _ = try await connection.post("/v1/advanced-commerce", json: refused) }
                return text().contains("omitted")
            }
        }
        _ = service.stop()
        try await recordGrantsAndBreak(in: folder)
        let lines = try text().split(separator: "\n").map { line in
            try #require(JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
        }
        let rows = try MarkdownPage("docs/audit.md").rows.filter { $0.count == 2 && $0[0].hasPrefix("`") }
        func names(_ cell: String) -> Set<String> { Set(cell.matches(of: /`([^`]+)`/).map { String($0.output.1) }) }
        // These need an identity provider, an alarm and a grant. `ConsoleServiceTests` covers them.
        let absent: Set = [
            "subject", "alarm", "grant", "reason", "liftsLimits", "madeBy", "madeBySubject", "expiresAt",
        ]
        let documented = rows.reduce(into: Set<String>()) { $0.formUnion(names($1[0])) }
        #expect(absent.isSubset(of: documented))
        #expect(Set(lines.flatMap(\.keys)) == documented.subtracting(absent))
        let consoleLines = lines.filter { $0["caller"] as? String == "console" }
        #expect(consoleLines.map { $0["kind"] as? String } == ["console_link", "console_sign_in", "console_search"])
        #expect(consoleLines.allSatisfy { $0["outcome"] as? String == "accepted" })
        #expect(consoleLines.dropFirst().allSatisfy { $0["person"] as? String == "Ada" })
        #expect(
            consoleLines.first?["about"] as? String == "Ada" && consoleLines.first?["roles"] as? String == "support")
        let events = try #require(rows.first { $0[0] == "`event`" })
        #expect(Set(lines.compactMap { $0["event"] as? String }) == names(events[1]))
        let kinds = try #require(rows.first { $0[0] == "`kind`" })
        #expect(
            names(kinds[1])
                == Set(
                    SignatureKind.allCases.map(\.rawValue) + CustomerChange.Kind.allCases.map(\.rawValue)
                        + ConsoleAct.Kind.allCases.map(\.rawValue)))
    }

    /// Requests what only callers can get, removes the last line under the running service, acknowledges the break, and
    /// searches for a customer in the console.
    private func recordGrantsAndBreak(in folder: TemporaryFolder) async throws {
        let audit = [
            "SUBSCRIPTION_OFFERS_AUDIT_LOG": folder.path + "/audit.jsonl",
            "SUBSCRIPTION_OFFERS_AUDIT_KEY": "0123456789abcdef", "SUBSCRIPTION_OFFERS_AUDIT_CHAIN": "hmac",
        ]
        let token = "ost_0123456789abcdef01234567"
        let digest = Hexadecimal.text(of: try SHA256.hash(Array(token.utf8)))
        try folder.write(
            """
            apps:
              - bundleID: a
                environments: [Sandbox]
                introductoryOffers: {rule: sandbox}
                products: [{productID: p, offers: []}]
            rules: {sandbox: {environment: Sandbox}}
            callers: [{name: backend, tokenSHA256: \(digest), scopes: [introductory, facts]}]
            """.utf8, to: "config.yaml")
        let settings = audit.merging([
            "SUBSCRIPTION_OFFERS_CONFIG": folder.path + "/config.yaml",
            "SUBSCRIPTION_OFFERS_ISSUER_ID": Fixtures.issuerText,
            "SUBSCRIPTION_OFFERS_DATABASE": "sqlite:\(folder.path)/subscribers.sqlite",
            "SUBSCRIPTION_OFFERS_CONSOLE_ADDRESS": "127.0.0.1:0",
        ]) { $1 }
        let service = try RunningService(environment: settings)
        try await Connection.open(port: service.port) { connection in
            for isErased in [false, true, false] {
                if isErased {
                    let lines = try folder.text("audit.jsonl").split(separator: "\n")
                    try folder.write((lines.dropLast().joined(separator: "\n") + "\n").utf8, to: "audit.jsonl")
                }
                let answer = try await connection.post(
                    "/v1/introductory-offers",
                    json: #"{"bundleID":"a","productID":"p","allowIntroductoryOffer":true,"transactionID":"20000001"}"#,
                    headers: "Authorization: Bearer \(token)\r\n")
                #expect(answer?.status == 200)
            }
            // Decided by the rule.
            let decided = try await connection.post(
                "/v1/introductory-offers", json: #"{"bundleID":"a","productID":"p","transactionID":"20000001"}"#,
                headers: "Authorization: Bearer \(token)\r\n")
            #expect(decided?.status == 200)
            let link = #"{"bundleID":"a","transactionID":"1","applicationUsername":"u"}"#
            try await connection.send(
                "PUT /v1/customers/links HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer \(token)\r\n"
                    + "Content-Type: application/json\r\nContent-Length: \(link.utf8.count)\r\n\r\n\(link)")
            #expect(try await connection.receive()?.status == 204)
        }
        let outcome = try Command.runOfferSigner(["audit", "acknowledge"], environment: audit)
        #expect(outcome.status == 0, "\(outcome.standardError)")
        try await searchInConsole(of: service, settings)
        _ = service.stop()
    }

    /// Signs a person in to the console with a link, and searches for a customer.
    private func searchInConsole(of service: RunningService, _ settings: [String: String]) async throws {
        try await waitUntil { try service.consolePort != nil }
        let port = try #require(try service.consolePort)
        let made = try Command.runOfferSigner(
            ["console", "sign-in", "--name", "Ada", "--role", "support", "--console-url", "http://127.0.0.1:\(port)"],
            environment: settings)
        #expect(made.status == 0, "\(made.standardError)")
        let form = try #require(made.standardOutput.firstMatch(of: /\/sign-in\/link\?(token=[\w-]+)/)?.output.1)
        let site = "Sec-Fetch-Site: same-origin\r\n"
        try await Connection.open(port: port) { connection in
            try await connection.send(
                "POST /sign-in/link HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\n\(site)"
                    + "Content-Type: application/x-www-form-urlencoded\r\n"
                    + "Content-Length: \(form.utf8.count)\r\n\r\n\(form)")
            let signedIn = try await connection.receive()
            #expect(signedIn?.status == 303)
            let cookie = try #require(signedIn?.headers["set-cookie"]).prefix { $0 != ";" }
            // The App Store may not answer. The line is written before the search.
            #expect(try await connection.get("/find?q=x", headers: "\(site)Cookie: \(cookie)\r\n") != nil)
        }
    }
}
