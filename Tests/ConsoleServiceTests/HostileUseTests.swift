import Foundation
import OfferConsole
import OfferCore
import OfferCrypto
import OfferEligibility
import OfferHTTP
import OfferIdentity
import OfferService
import SignInTestSupport
import StoreTestSupport
import SubscriberStore
import SubscriberSync
import TestSupport
import Testing

@testable import ConsoleService
@testable import OfferConfiguration

@Suite("Hostile use of the console")
struct HostileUseTests {
    private static let configuration = TestConsole.configuration.replacing(
        "    products:", with: "    grants: {dailyBudget: 99}\n    products:")

    /// Values with which each page is found, so that a bad one is all that is wrong.
    private static let good = [
        "app": "com.example.app", "environment": "Production", "kind": "originalTransactionID", "id": "9000000000001",
        "product": "monthly", "offer": "stay", "reason": "goodwill", "days": "14", "table": "timeline",
        "q": "9000000000001",
        "offset": "60", "return": "/find", "number": "1", "note": "a note", "text": "apps: []",
    ]

    private static let hostile = "<script>alert(1)</script>\"'><img src=x onerror=alert(1)>&\u{202E}\u{5D0}"

    private static func encoded(_ text: String) -> String {
        // Huge texts are letters alone, and escaping them would take long.
        text.utf8.count > 1000 ? text : text.utf8.map { "%" + String(UInt16($0) + 256, radix: 16).suffix(2) }.joined()
    }

    /// Sends a page or an act with a bad value in one field.
    private static func ask(
        _ console: TestConsole, _ route: ConsoleRoute, _ bad: String, _ value: String, about grant: UUIDText,
        _ cookie: String
    ) async -> HTTPResponse {
        let path = route.path.description
        let good = good.merging(["grant": "\(grant)"]) { $1 }
        let fields = names(of: route).compactMap { name -> (String, String)? in
            name == bad ? (name, value) : good[name].map { (name, $0) }
        }
        if route.maximumUploadBytes != nil {
            // A browser sends all fields of this form.
            let text = ["text": value, "file": ""][bad] ?? "apps: []"
            return await console.upload(
                path, ["text": text, "file": bad == "file" ? value : "", "do": bad == "do" ? value : "check"],
                cookie: cookie)
        }
        let form = fields.map { "\($0)=\(encoded($1))" }.joined(separator: "&")
        return route.isAct
            ? await console.post(path, form, cookie: cookie) : await console.get("\(path)?\(form)", cookie: cookie)
    }

    /// The names of a route's fields. The return from an identity provider reads its query itself.
    private static func names(of route: ConsoleRoute) -> [String] {
        route.fields?.map(\.name) ?? ["code", "state", "iss", "error", "error_description"]
    }

    /// A console in which every act succeeds with the good values, and that signs people in at an identity provider.
    private static func console() async throws -> (TestConsole, setup: (TestProvider, TemporaryFolder)) {
        let folder = try TemporaryFolder()
        let certificates = try TLSCertificates(folder: folder.path)
        let provider = try await TestProvider(certificates)
        let roots = try X509Certificate.readAll([UInt8](Data(contentsOf: URL(filePath: certificates.rootPath))))
        let settings = try SignInSettings(
            issuer: provider.url, clientID: "console",
            redirectURL: TestConsole.origin + ConsoleSettings.returnPath, roots: roots)
        let console = try await TestConsole(
            configuration,
            provider: ConsoleSettings.Provider(settings: settings, roles: RoleMapping(["support": ["helpdesk"]])))
        let coverage = try #require(console.application.policy.snapshot.catalogue).ledgerCoverage
        try await console.store.beginLedger(coverage, at: Sample.day(0))
        let alarm = Sample.transaction("9000000000003", of: "9000000000002", 5, 35) {
            $0.offer = AppliedOffer(type: .promotional, identifier: "stay")
        }
        try await console.store.merge(
            [Sample.transaction("9000000000001", of: "9000000000001", 0, 30), alarm], in: Sample.production)
        return (console, (provider, folder))
    }

    /// Withdraws every grant, and makes one of another person that awaits approval.
    private static func renewGrants(_ console: TestConsole) async throws -> UUIDText {
        let old = try await console.store.grants(in: Sample.production, .all, before: nil, limit: 99)
        for grant in old {
            _ = try await console.store.withdraw(grant.id, OfferGrant.Act(by: grant.maker, at: console.now))
        }
        let subject = CustomerIdentifier.originalTransactionID(Sample.id("9000000000002"))
        let offer = Sample.offer("stay", nonces: [], expiresAt: 0)
        let id = UUIDText(high: 0xABC, low: UInt64(old.count))
        let grant = OfferGrant(
            id: id, subject: .customer(subject), account: nil, productID: offer.productID,
            offerID: offer.offerID, purpose: OfferGrant.Purpose(reason: "goodwill"), liftsLimits: false,
            maker: OfferGrant.Person("Bob"), at: console.now, expiresAt: console.now + .hours(99), approval: .notNeeded)
        let made = try await console.store.make(
            GrantRequest(
                app: Sample.production, grant: grant, names: [subject], accounts: [], holders: [subject], budget: 0,
                budgetStart: console.now))
        guard case .made(let waiting) = made else { throw CancellationError() }
        #expect(waiting.approval == .needed)
        return id
    }

    /// What acts can change: the records of an export, and acknowledged alarms, which are not in it.
    private static func stored(in console: TestConsole) async throws -> [String] {
        let alarms = try await console.store.acknowledgedRedemptions(in: [Sample.production], limit: 9)
        return try await console.records() + alarms.map { "\($0)" }
    }

    /// The fields whose text is stored, and that may be anything.
    private static let stored: Set = ["/grant note", "/grant ticket", "/alarms/acknowledge note"]
    /// The fields that only say which page follows, so the act takes effect.
    private static let wayBack: Set = ["/grants/approve id", "/grants/withdraw id"]

    @Test("hostile and huge texts in any field of any page or act change nothing else, and are shown as text")
    func everyField() async throws {
        let (console, setup) = try await Self.console()
        let roles = ["support", "marketing", "operator", "auditor"]
        let routes = try #require(console.responder as? ConsoleRouter).routes.values.sorted {
            ($0.path.description, $0.isAct ? 1 : 0) < ($1.path.description, $1.isAct ? 1 : 0)
        }
        #expect(routes.contains { $0.path.description == "/sign-in/return" })
        let huge = String(repeating: "a", count: 1_000_000)
        var count = 0
        var changing: Set<String> = []
        var grant = try await Self.renewGrants(console)
        for route in routes {
            for name in Self.names(of: route) {
                let label = "\(route.path) \(name)"
                // Some acts end the session.
                let cookie = try await console.signIn(roles)
                let before = try await Self.stored(in: console)
                let shown = await Self.ask(console, route, name, Self.hostile, about: grant, cookie)
                #expect(shown.status < 500, "\(label)")
                let isPage = shown.values(of: "Content-Type").allSatisfy { $0.hasPrefix("text/html") }
                let raw = ["<script", "<img", "\u{202E}"].filter { shown.text.contains($0) }
                #expect(raw == [] || !isPage, "\(label) \(raw)")
                let isElsewhere = shown.location.map { !$0.hasPrefix("/") || $0.hasPrefix("//") } ?? false
                #expect(!isElsewhere, "\(label) \(shown.location ?? "")")
                let refused = await Self.ask(console, route, name, huge, about: grant, cookie)
                let isSentBack = route.fields == nil && refused.location == "/sign-in?reason=refused"
                #expect((400..<500).contains(refused.status) || isSentBack, "\(label) \(refused.status)")
                #expect(refused.text.utf8.count < 1_200_000, "\(label)")
                let after = try await Self.stored(in: console)
                if before != after {
                    changing.insert(label)
                    #expect(after.count - before.count == (Self.wayBack.contains(label) ? 0 : 1), "\(label)")
                    grant = try await Self.renewGrants(console)
                }
                count += 1
            }
        }
        #expect(count > 40)
        #expect(changing == Self.stored.union(Self.wayBack))
        // With good values, the acts take effect: the bad value was all that was wrong.
        let cookie = try await console.signIn(roles)
        for path in ["/grant", "/grants/approve", "/grants/withdraw"] {
            let route = try #require(routes.first { $0.path.description == path && $0.isAct })
            let before = try await Self.stored(in: console)
            #expect(await Self.ask(console, route, "", "", about: grant, cookie).status == 303, "\(path)")
            #expect(try await Self.stored(in: console) != before, "\(path)")
        }
        await console.close()
        _ = setup
    }

    @Test("hostile texts in the database and in the configuration are shown as text on every page")
    func storedTexts() async throws {
        let (script, image) = ("<script>alert(1)</script>", "<img src=x onerror=alert(1)>\"'\u{202E}")
        let yaml = """
            apps:
              - bundleID: com.example.app
                appAppleID: 1234567890
                grants: {reasons: [goodwill], dailyBudget: 0}
                products:
                  - productID: '<script>alert(1)</script>'
                    offers:
                      - offerID: '<img src=x onerror=alert(1)>'
                        rule: {all: [{fact: {name: '<b>fact', exists: false}}, {share: {of: 0.5, by: s}}]}
            """
        let console = try await TestConsole(yaml)
        let offerID = "<img src=x onerror=alert(1)>"
        let coverage = try #require(console.application.policy.snapshot.catalogue).ledgerCoverage
        try await console.store.beginLedger(coverage, at: Sample.day(0))
        let username = CustomerIdentifier.applicationUsername(Sample.text(script + image))
        let (product, offer) = (
            try ProductID(utf8: Array(script.utf8)), try OfferID(utf8: Array(offerID.utf8))
        )
        let transactions = [
            Sample.transaction("9000000000001", of: "9000000000001", 0, 30) { $0 = Self.purchase(product, $0) },
            Sample.transaction("9000000000002", of: "9000000000001", 5, 35) {
                $0 = Self.purchase(product, $0)
                $0.offer = AppliedOffer(type: .promotional, identifier: offerID)
                $0.storefront = script
            },
        ]
        try await console.store.merge(transactions, in: Sample.production)
        let subscription = CustomerIdentifier.originalTransactionID(Sample.id("9000000000001"))
        let account = Customer.applicationUsername(Sample.text(script + image))
        try await console.store.link(subscription, to: account, in: Sample.production, at: Sample.day(6))
        try await console.store.setTeamFacts(
            [Sample.text(image): .text(Array(script.utf8))], of: username, in: Sample.production, at: Sample.day(6))
        let report = OfferEventReport(
            kind: .failed, offer: .named(username, product, offer), at: Sample.day(6), error: image)
        #expect(try await console.store.record([report], of: Sample.production, onlyOf: nil).count == 1)
        let source = OfferSource(rule: script, channel: .decision)
        let exposure = Exposure(
            subject: .customer(username), productID: product, offerID: offer, arm: .offered,
            place: SamplePlace(sample: image, isInSample: true), source: source, placement: script,
            rulesDigest: Array(repeating: 7, count: 32), at: Sample.day(6))
        let signed = LedgerRequest.Offer(
            productID: product, offerID: offer, limits: OfferLimits(), nonces: [Sample.nonce(1)],
            expiresAt: Sample.day(7), source: source, exposures: [exposure])
        _ = try await console.store.reserve(Sample.request([signed], by: [username, subscription], at: 6))
        let person = OfferGrant.Person(script, subject: image)
        let grant = OfferGrant(
            id: UUIDText(high: 0xABC, low: 1), subject: .customer(username), account: account, productID: product,
            offerID: offer,
            purpose: OfferGrant.Purpose(reason: script, note: image, ticket: script), liftsLimits: true, maker: person,
            at: Sample.day(7), expiresAt: Sample.day(20), approval: .notNeeded)
        _ = try await console.store.make(
            GrantRequest(
                app: Sample.production, grant: grant, names: [username], accounts: [account],
                holders: [username, subscription], budget: 0, budgetStart: Sample.day(7)))
        let cookie = try await console.signIn(["support", "marketing", "operator", "auditor"], name: script + image)
        let good = [
            "app": "com.example.app", "environment": "Production", "kind": "originalTransactionID",
            "id": "9000000000001", "product": script, "offer": offerID, "q": script + image, "sample": "s",
        ]
        let routes = try #require(console.responder as? ConsoleRouter).routes.values
        var showing: Set<String> = []
        for route in routes where !route.isAct && route.access != .anyone {
            let query = Self.names(of: route).compactMap { name in good[name].map { "\(name)=\(Self.encoded($0))" } }
            let target = query.isEmpty ? "\(route.path)" : "\(route.path)?\(query.joined(separator: "&"))"
            let answer = await console.get(target, cookie: cookie)
            #expect(answer.status < 500, "\(target)")
            guard answer.values(of: "Content-Type").allSatisfy({ $0.hasPrefix("text/html") }) else { continue }
            let raw = ["<script", "<img", "<b>fact", "\u{202E}"].filter { answer.text.contains($0) }
            #expect(raw == [], "\(target)")
            let main = answer.text.split(separator: "<main").last.map(String.init) ?? ""
            if answer.status == 200, main.contains("&lt;script") || main.contains("&lt;img") {
                showing.insert("\(route.path)")
            }
        }
        let expected: Set = [
            "/customer", "/grant", "/grants", "/offers", "/lists", "/reports", "/reports/offer", "/alarms", "/audit",
        ]
        #expect(expected.subtracting(showing) == [], "a page shows none of the texts")
    }

    private static func purchase(_ product: ProductID, _ like: Purchase) -> Purchase {
        var purchase = Purchase(productID: product, purchaseDate: like.purchaseDate)
        purchase.type = like.type
        purchase.subscriptionGroupID = like.subscriptionGroupID
        purchase.expiresDate = like.expiresDate
        purchase.ownership = .purchased
        purchase.reason = like.reason
        return purchase
    }

    @Test("who has no session is limited by address, on every page, and a session is not")
    func rateLimit() async throws {
        var limits = Limits()
        limits.addresses = RateLimit(perSecond: 1, burst: 3)
        let console = try await TestConsole(limits: limits)
        let cookie = try await console.signIn(["support"])
        let link = try await console.link(["support"], name: "Grace")
        let token = String(link.dropFirst("/sign-in/link?".count))
        func ask(_ method: String, _ target: String, _ peer: String, _ cookie: String? = nil) async -> HTTPResponse {
            await console.respond(
                HTTPRequest(
                    method: method, target: target, host: "console.example",
                    contentType: method == "POST" ? "application/x-www-form-urlencoded" : nil, peer: IPAddress(peer),
                    browser: BrowserHeaders(cookies: [cookie].compactMap(\.self), fetchSite: "same-origin"),
                    body: method == "POST" ? Array(token.utf8) : []))
        }
        let guess = "/sign-in/link?token=" + String(repeating: "A", count: 43)
        for target in [guess, "/find", "/nothing"] { #expect(await ask("GET", target, "192.0.2.1").status != 429) }
        for (method, target) in [("GET", guess), ("GET", "/sign-in"), ("GET", "/find"), ("POST", "/sign-in/link")] {
            let refused = await ask(method, target, "192.0.2.1")
            #expect(refused.status == 429 && (refused.retryAfter ?? 0) > 0, "\(method) \(target)")
            #expect(refused.values(of: "Set-Cookie").isEmpty, "the right token of another person is refused too")
        }
        for _ in 0..<9 { #expect(await ask("GET", "/find", "192.0.2.1", cookie).status == 200) }
        let elsewhere = await ask("POST", "/sign-in/link", "192.0.2.2")
        #expect(elsewhere.values(of: "Set-Cookie").count == 1, "from another address, the link still works")
    }
}
