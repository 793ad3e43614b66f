import AppStoreStandIn
import ConsoleSamples
import Foundation
import OfferConsole
import OfferCore
import OfferEligibility
import SignInTestSupport
import StoreTestSupport
import SubscriberStore
import TestSupport
import Testing

@testable import AppStoreTestSupport

/// The console as people use it: with the command that invites them, and with a browser.
@Suite("The console of a running service", .serialized, .timeLimit(.minutes(10)))
struct ConsoleTests {
    private static let roles = ["support", "marketing", "operator", "auditor"]

    private let folder: TemporaryFolder
    private let environment: [String: String]

    init() throws {
        folder = try TemporaryFolder()
        try folder.write(
            """
            apps:
              - bundleID: com.example.app
                appAppleID: 1234567890
                grants: {dailyBudget: 2}
                products:
                  - productID: monthly
                    offers: [plain, {offerID: stay, rule: leaving, limits: {perCustomer: {count: 1}, total: 500}}]
            rules: {leaving: {all: [{subscription: {status: active, autoRenew: off}}, {share: {of: 0.5, by: s}}]}}
            """.utf8, to: "offers.yaml")
        environment = [
            "SUBSCRIPTION_OFFERS_CONFIG": folder.path + "/offers.yaml",
            "SUBSCRIPTION_OFFERS_DATABASE": "sqlite:\(folder.path)/subscribers.sqlite",
            "SUBSCRIPTION_OFFERS_AUDIT_LOG": folder.path + "/audit.jsonl",
            "SUBSCRIPTION_OFFERS_CONSOLE_ADDRESS": "127.0.0.1:0",
        ]
    }

    /// Starts a service, and returns it with the URL of its console.
    private func start() async throws -> (RunningService, url: String) {
        let service = try RunningService(environment: environment)
        try await waitUntil { (try? service.output.contains("the console is on")) == true }
        let announced = try #require(/the console is on (http:\/\/127\.0\.0\.1:\d+)/.firstMatch(in: try service.output))
        return (service, String(announced.output.1))
    }

    private func console(_ arguments: [String]) throws -> Command.Outcome {
        try Command.runOfferSigner(["console"] + arguments, environment: environment)
    }

    private func link(_ url: String, _ roles: [String], name: String = "Ada") throws -> String {
        let outcome = try console(
            ["sign-in", "--name", name, "--console-url", url] + roles.flatMap { ["--role", $0] })
        try #require(outcome.status == 0, "\(outcome.standardError)")
        return outcome.standardOutput.trimmingCharacters(in: .newlines)
    }

    private func curl(_ arguments: String...) throws -> String {
        let jar = folder.path + "/cookies"
        let outcome = try Command.run("curl", ["-sS", "-b", jar, "-c", jar, "-L"] + arguments)
        return outcome.standardOutput
    }

    @Test("an invited person signs in with curl, is listed, and is thrown out")
    func commands() async throws {
        let (service, url) = try await start()
        #expect(try console(["sessions"]).standardOutput == "nobody is signed in\n")
        let link = try link(url, ["support", "auditor"], name: "Ada Lovelace")
        let token = try #require(link.split(separator: "=").last)
        let form = ["--data-urlencode", "token=\(token)", "-H", "Sec-Fetch-Site: same-origin"]
        #expect(try curl(link).contains("Sign in as"))
        #expect(
            try curl(form[0], form[1], "-H", "Sec-Fetch-Site: cross-site", url + "/sign-in/link").contains("Error 403"))
        #expect(try curl(form[0], form[1], form[2], form[3], url + "/sign-in/link").contains("Find a customer"))
        for path in ["/sign-in", "/find", "/sign-in/link"] {
            #expect(try await service.get(path).status == 404, "\(path) of the public listener")
        }
        for path in ["/v1/promotional-offers", "/offer", "/health/ready", "/metrics"] {
            let status = try Command.run("curl", ["-sS", "-o", "/dev/null", "-w", "%{http_code}", url + path])
            #expect(status.standardOutput == "404", "\(path) of the console’s listener")
        }
        let sessions = try console(["sessions"]).standardOutput
        #expect(sessions.hasSuffix(", auditor,support: Ada Lovelace\n") && sessions.hasPrefix("since 20"))
        #expect(try console(["sign-out", "--name", "Grace"]).standardOutput == "0 sessions ended\n")
        #expect(try console(["sign-out", "--name", "Ada Lovelace"]).standardOutput == "1 session ended\n")
        #expect(try curl(url + "/find").contains("An operator has ended your session."))
        #expect(service.stop() == 0)
        let lines = String(decoding: try folder.read("audit.jsonl"), as: UTF8.self).split(separator: "\n")
        #expect(
            lines.contains {
                $0.contains("console_link") && $0.contains(#""about":"Ada Lovelace","roles":"support auditor""#)
            })
        #expect(lines.count { $0.contains("console_end_sessions") } == 2)
        #expect(try Command.runOfferSigner(["audit", "verify", folder.path + "/audit.jsonl"]).status == 0)
    }

    @Test("the command says what is wrong with an invitation")
    func badInvitations() throws {
        let link = ["sign-in", "--name", "Ada", "--role", "support"]
        #expect(try console(link).standardError.contains("the port of the console is unknown"))
        #expect(try console(["sign-in", "--name", "Ada"]).status == 64)
        #expect(try console(["sign-in", "--name", "", "--role", "support"]).status == 64)
        #expect(try console(["sign-in", "--name", "Ada", "--role", "root"]).status == 64)
        #expect(try console(["sign-out"]).status == 64)
        let outcome = try Command.runOfferSigner(["console"] + link)
        #expect(outcome.standardError.contains("there is no console"))
    }

    @Test("no link is made while the audit trail cannot be written, but sessions end")
    func brokenTrail() async throws {
        let (service, url) = try await start()
        #expect(service.stop() == 0)
        var environment = environment
        environment["SUBSCRIPTION_OFFERS_AUDIT_LOG"] = "/dev/full"
        func console(_ arguments: [String]) throws -> Command.Outcome {
            try Command.runOfferSigner(["console"] + arguments, environment: environment)
        }
        let made = try console(["sign-in", "--name", "Ada", "--role", "support", "--console-url", url])
        #expect(made.status != 0 && made.standardOutput == "")
        #expect(made.standardError.contains("the audit trail cannot be written"))
        #expect(try console(["sign-out", "--all"]).standardError.contains("the audit trail cannot be written"))
    }

    @Test("doctor says where the console would be, and tries its identity provider")
    func doctor() async throws {
        let certificates = try TLSCertificates(folder: folder.path + "/tls")
        let provider = try MockProvider(certificates)
        var environment = environment
        func doctor(_ arguments: String...) throws -> Command.Outcome {
            let keys = try RunningService.makeKeys()
            return try Command.runOfferSigner(
                ["doctor", "--keys-dir", keys.path, "--key-id", RunningService.keyID, "--port", "0"] + arguments,
                environment: environment)
        }
        environment["SUBSCRIPTION_OFFERS_CONSOLE_ADDRESS"] = "127.0.0.1:8081"
        let plain = try doctor().standardOutput
        #expect(
            plain.contains(
                "ok: the console would be served on 127.0.0.1:8081 for http://127.0.0.1:8081, on this machine only\n"))
        #expect(plain.contains("ok: people would sign in to the console with links"))
        environment["SUBSCRIPTION_OFFERS_CONSOLE_URL"] = "https://offers.example.com"
        environment["SUBSCRIPTION_OFFERS_CONSOLE_ISSUER"] = provider.url
        environment["SUBSCRIPTION_OFFERS_CONSOLE_CLIENT_ID"] = "console"
        environment["SUBSCRIPTION_OFFERS_CONSOLE_ROLES"] = "support=helpdesk"
        environment["SUBSCRIPTION_OFFERS_CONSOLE_ISSUER_ROOTS"] = certificates.rootPath
        #expect(try doctor().standardOutput.contains("sign in to the console at \(provider.url); --online tests it"))
        #expect(
            try doctor("--online").standardOutput.contains(
                "ok: the identity provider \(provider.url) of the console answers"))
        environment["SUBSCRIPTION_OFFERS_CONSOLE_ISSUER"] = "https://127.0.0.1:1"
        let unreachable = try doctor("--online")
        #expect(unreachable.status == 1 && unreachable.standardError.contains("127.0.0.1:1"))
    }

    @Test("a person signs in at an identity provider in Chromium, and out again; others are refused")
    func provider() async throws {
        let certificates = try TLSCertificates(folder: folder.path + "/tls")
        let provider = try MockProvider(
            certificates, people: #"{"sub":"ada","name":"Ada Lovelace","groups":["helpdesk","others"]}"#,
            #"{"sub":"eve","name":"Eve","groups":["others"]}"#)
        // The provider sends browsers only to the registered address, so the port must be known before the start.
        let port = try unusedPort()
        let url = "https://localhost:\(port)"
        let client = try provider.register(
            redirectURL: url + "/sign-in/return", authentication: "client_secret_basic")
        var environment = environment
        environment["SUBSCRIPTION_OFFERS_TLS_CERTIFICATE"] = certificates.certificatePath
        environment["SUBSCRIPTION_OFFERS_TLS_KEY"] = certificates.keyPath
        environment["SUBSCRIPTION_OFFERS_CONSOLE_ADDRESS"] = "127.0.0.1:\(port)"
        environment["SUBSCRIPTION_OFFERS_CONSOLE_URL"] = url
        environment["SUBSCRIPTION_OFFERS_CONSOLE_ISSUER"] = provider.url
        environment["SUBSCRIPTION_OFFERS_CONSOLE_CLIENT_ID"] = client.id
        environment["SUBSCRIPTION_OFFERS_CONSOLE_CLIENT_SECRET"] = client.secret
        environment["SUBSCRIPTION_OFFERS_CONSOLE_ROLES"] = "support=helpdesk"
        environment["SUBSCRIPTION_OFFERS_CONSOLE_ISSUER_ROOTS"] = certificates.rootPath
        let service = try RunningService(environment: environment)
        let outcome = try Command.run(
            Self.script,
            ["--sign-in", "--console", url, "--person", "ada", "--name", "Ada Lovelace", "--stranger", "eve"],
            environment: [:])
        let log = try service.log
        #expect(outcome.status == 0, "\(outcome.standardOutput)\(outcome.standardError)\(log)")
        #expect(outcome.standardOutput.contains(" 0 faults"))
        #expect(service.stop() == 0)
    }

    /// Returns a port of 127.0.0.1 that nothing uses now.
    private func unusedPort() throws -> Int {
        let service = try RunningService()
        defer { _ = service.stop() }
        return service.port
    }

    private static let script = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../scripts/console-browser").standardizedFileURL.path

    /// A name that would be a script, if it were shown as markup, and that turns the direction of text.
    private static let hostileName = "<script>document.title='hacked'</script>\"'&\u{202E}\u{5D0}"

    /// Fills the database: a customer who renews, a redemption that no signature explains, a customer with a hostile name,
    /// one in billing retry, and 80 customers in both arms of a sample, some of whom redeemed the offer.
    private func addCustomers() async throws -> String {
        let store = try #require(StoreLocation("sqlite:\(folder.path)/subscribers.sqlite")).open()
        let today = (Date().timeIntervalSince1970 * 1000 - Double(Sample.day(0).milliseconds)) / 86_400_000
        try await store.beginLedger(LedgerCoverage(apps: [Sample.production]), at: Sample.day(today - 60))
        let id = "2000000100000001"
        let transaction = Sample.transaction(id, of: id, today - 1, today + 29) {
            $0.ownership = .purchased
            $0.appAccountToken = Sample.token(1)
        }
        try await store.merge([transaction, Sample.renewal(of: id, signed: today - 1)], in: Sample.production)
        for number in 2...81 as ClosedRange<UInt64> {
            let (isOffered, original) = (number % 2 == 0, "20000001000000\(number + 10)")
            let exposure = Sample.exposure(
                of: Sample.account(number), isOffered ? .offered : .heldOut, "stay", sample: "s",
                at: today - 25 + Double(number % 20))
            let offer = Sample.offer(
                "stay", nonces: [number], expiresAt: today, exposures: isOffered ? [exposure] : [])
            let heldOut = LedgerRequest.HeldOutOffer(
                productID: offer.productID, offerID: offer.offerID, limits: OfferLimits(), place: 0,
                exposures: [exposure])
            _ = try await store.reserve(
                LedgerRequest(
                    app: Sample.production,
                    facts: [
                        Sample.transaction(original, of: original, today - 40, today - 10) {
                            $0.appAccountToken = Sample.token(number)
                        }
                    ], holders: [Sample.account(number)], offers: isOffered ? [offer] : [], reserving: .all,
                    heldOut: isOffered ? [] : [heldOut], at: exposure.at))
            guard number % 3 != 0 else { continue }
            let redemption = Sample.transaction("21000001000000\(number + 10)", of: original, today - 4, today + 26) {
                $0.appAccountToken = Sample.token(number)
                // Nobody signed the offer for those held out: an alarm for each.
                if isOffered || number < 8 { $0.offer = AppliedOffer(type: .promotional, identifier: "stay") }
            }
            try await store.merge([redemption], in: Sample.production)
        }
        let failing = "2000000100000002"
        let paid = Sample.transaction(failing, of: failing, today - 40, today - 10) {
            $0.ownership = .purchased
            $0.appAccountToken = Sample.token(90)
        }
        let retry = Sample.renewal(of: failing, signed: today - 9) {
            $0.isInBillingRetryPeriod = true
            $0.expirationIntent = .billingError
        }
        try await store.merge(
            [paid, retry, Sample.status(3, of: failing, signed: today - 9)], in: Sample.production)
        let hostile = CustomerIdentifier.applicationUsername(Sample.text(Self.hostileName))
        try await store.setTeamFacts(
            [Sample.text("<img src=x>"): .text(Array(String(repeating: "</td><script>", count: 60).utf8))], of: hostile,
            in: Sample.production, at: Sample.day(today))
        try store.close()
        return id
    }

    @Test("a person walks through every page in Chromium, in each mode, with the keyboard, and without JavaScript")
    func browser() async throws {
        let id = try await addCustomers()
        let (service, url) = try await start()
        let links = [try link(url, Self.roles), try link(url, ["marketing"], name: "Grace")]
        // CONSOLE_SCREENSHOTS names a folder for a picture of each page.
        let pictures = ProcessInfo.processInfo.environment["CONSOLE_SCREENSHOTS"].map { ["--screenshots", $0] } ?? []
        let outcome = try Command.run(
            Self.script,
            pictures + [
                "--link", links[0], "--transaction", id, "--second-link", links[1], "--hostile", Self.hostileName,
            ],
            environment: [:])
        #expect(outcome.status == 0, "\(outcome.standardOutput)\(outcome.standardError)")
        #expect(outcome.standardOutput.contains(" 0 faults"))
        #expect(service.stop() == 0)
    }

    @Test("every page in every state passes axe-core in each mode in Chromium, and Tab reaches all of it")
    func samples() async throws {
        let (service, url) = try await start()
        let pages = Samples.pages
        for page in pages { try folder.write(page.html.text.utf8, to: "samples-\(page.name).html") }
        let pictures = ProcessInfo.processInfo.environment["CONSOLE_SCREENSHOTS"].map { ["--screenshots", $0] } ?? []
        let outcome = try Command.run(
            Self.script, ["--samples", "--folder", folder.path, "--console", url] + pictures, environment: [:])
        #expect(outcome.status == 0, "\(outcome.standardOutput)\(outcome.standardError)")
        #expect(
            outcome.standardOutput.contains("\(pages.count) pages, ") && outcome.standardOutput.contains(" 0 faults"))
        #expect(service.stop() == 0)
    }

    @Test("from the order ID on a receipt to a granted offer, a person sees three pages")
    func threePages() async throws {
        let process = try await AppStoreProcess()
        try process.folder.write(
            """
            apps:
              - bundleID: com.example.app
                appAppleID: 1234567890
                grants: {}
                products:
                  - {productID: com.example.app.pro.weekly, offers: [{offerID: sorry, rule: {fact: {name: ticket, exists: true}}}]}
            """.utf8, to: "offers.yaml")
        let settings = [
            "SUBSCRIPTION_OFFERS_AUDIT_LOG": folder.path + "/audit.jsonl",
            "SUBSCRIPTION_OFFERS_CONSOLE_ADDRESS": "127.0.0.1:0",
        ]
        let service = try process.start(settings)
        try await waitUntil { (try? service.output.contains("the console is on")) == true }
        let announced = try #require(/the console is on (http:\/\/127\.0\.0\.1:\d+)/.firstMatch(in: try service.output))
        let order = StandInWorld.orderNumber(of: try #require(process.standIn.production.subscriptions.joined().first))
        let invited = try Command.runOfferSigner(
            ["console", "sign-in", "--name", "Ada", "--role", "support", "--console-url", String(announced.output.1)],
            environment: process.environment.merging(settings) { $1 })
        try #require(invited.status == 0, "\(invited.standardError)")
        let link = invited.standardOutput.trimmingCharacters(in: .newlines)
        let outcome = try Command.run(Self.script, ["--grant", "--link", link, "--order", order], environment: [:])
        #expect(outcome.status == 0, "\(outcome.standardOutput)\(outcome.standardError)")
        #expect(outcome.standardOutput == "pages: /find /customer /grant\n")
        #expect(service.stop() == 0)
        await process.standIn.stop()
    }
}
