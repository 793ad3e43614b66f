import Foundation
import OfferConfiguration
import OfferConsole
import OfferCore
import OfferEligibility
import OfferHTTP
import OfferService
import StoreTestSupport
import SubscriberStore
import TestSupport
import Testing

@testable import ConsoleService

@Suite("A customer in the console")
struct CustomerPageTests {
    private static func page(_ kind: String, _ id: String, _ more: String = "") -> String {
        "/customer?app=com.example.app&environment=Production&kind=\(kind)&id=\(id)\(more)"
    }

    /// Adds two customers: Ada has turned auto-renew off, and Grace has not.
    private static func addCustomers(_ console: TestConsole) async throws {
        for (number, renews) in [(1, false), (2, true)] as [(UInt64, Bool)] {
            let id = "900000000000\(number)"
            let transaction = Sample.transaction(id, of: id, 0, 30) {
                $0.ownership = .purchased
                $0.appAccountToken = Sample.token(number)
                $0.appTransactionID = Sample.id("70410000000\(number)")
            }
            let renewal = Sample.renewal(of: id, signed: 1) {
                let product = $0.productID
                $0 = Renewal(productID: product, autoRenewStatus: renews ? .on : .off)
                $0.autoRenewProductID = product
            }
            try await console.store.merge([transaction, renewal], in: Sample.production)
            try await console.store.setTeamFacts(
                [Sample.text("secretOf\(number)"): .bool(true)], of: Sample.account(number), in: Sample.production,
                at: Sample.day(2))
        }
    }

    @Test("one hit opens the customer, and the page says why each offer is refused or not")
    func find() async throws {
        let console = try await TestConsole()
        try await Self.addCustomers(console)
        let cookie = try await console.signIn(["support"])
        let token = Sample.token(1).utf8.map { String(UnicodeScalar($0)) }.joined()
        for query in [token, token.uppercased(), "9000000000001", "+9000000000001+"] {
            let answer = await console.get("/find?q=\(query)", cookie: cookie)
            #expect(answer.status == 303, "\(query)")
            let page = await console.get(try #require(answer.location), cookie: cookie)
            #expect(page.text.contains("9000000000001") && page.text.contains("secretOf1"), "\(query)")
            #expect(!page.text.contains("9000000000002") && !page.text.contains("secretOf2"), "\(query)")
        }
        let ada = await console.get(Self.page("originalTransactionID", "9000000000001"), cookie: cookie)
        #expect(ada.text.contains("1 of 1 offer can be redeemed now"))
        let grace = await console.get(Self.page("originalTransactionID", "9000000000002"), cookie: cookie)
        #expect(grace.text.contains("Auto-renew is on; the rule requires off."))
        let whatIf = await console.get(
            Self.page("originalTransactionID", "9000000000002", "&autoRenew=off"), cookie: cookie)
        #expect(
            whatIf.text.contains("1 of 1 offer can be redeemed now")
                && whatIf.text.contains("This shows the offers if"))
        let after = await console.get(Self.page("originalTransactionID", "9000000000002"), cookie: cookie)
        #expect(after.text.contains("0 of 1 offer can be redeemed now"), "nothing was changed")
    }

    @Test("the page says what an app is told and shows where no offer is eligible")
    func alternative() async throws {
        let yaml = TestConsole.configuration.replacing(
            "    products:",
            with: "    instead: [{rule: {subscription: {autoRenew: on}}, message: {key: enjoy}}]\n    products:")
        let console = try await TestConsole(yaml)
        try await Self.addCustomers(console)
        let cookie = try await console.signIn(["support"])
        let ada = await console.get(Self.page("originalTransactionID", "9000000000001"), cookie: cookie).text
        #expect(ada.contains("the state <code>active</code>") && !ada.contains("Instead of an offer"))
        let grace = await console.get(Self.page("originalTransactionID", "9000000000002"), cookie: cookie).text
        #expect(grace.contains("Instead of an offer, it shows <bdi>the message enjoy</bdi>."))
        let whatIf = await console.get(
            Self.page("originalTransactionID", "9000000000002", "&autoRenew=off"), cookie: cookie
        ).text
        #expect(!whatIf.contains("Instead of an offer"))
        console.setTime(Sample.day(50))
        let later = try await console.signIn(["support"])
        let ended = await console.get(Self.page("originalTransactionID", "9000000000001"), cookie: later).text
        #expect(ended.contains("it shows <bdi>nothing</bdi>."))
    }

    @Test("the page and the timeline say what a purchaser of seats pays, and that the user of a seat pays nothing")
    func seats() async throws {
        let console = try await TestConsole()
        func add(_ id: String, _ ownership: OwnershipType) async throws {
            let transaction = Sample.transaction(id, of: id, 0, 30) {
                ($0.ownership, $0.price, $0.currency, $0.quantity) = (ownership, 4990, "EUR", 1200)
                $0.seats = Seats(invitationManagement: .apple, revokedQuantity: 3)
                $0.commitment = Commitment(billingPeriodNumber: 2, totalBillingPeriods: 12)
                $0.storefront = "DEU"
            }
            let renewal = Sample.renewal(of: id, signed: 1) {
                $0.quantity = 1
                $0.commitment = CommitmentRenewal(autoRenewStatus: .on)
            }
            guard case .renewalInfo(let info) = renewal.value else { return }
            let changes = ["INCREASE_QUANTITY", "DECREASE_QUANTITY"].map { subtype in
                let change = RenewalChange(type: "DID_CHANGE_RENEWAL_PREF", subtype: subtype, renewal: info)
                return Sample.fact(.renewalChange(change), id + subtype.prefix(1), of: id, signed: 1)
            }
            try await console.store.merge([transaction, renewal] + changes, in: Sample.production)
        }
        try await add("9000000000001", .purchased)
        try await add("9000000000002", .assigned)
        let cookie = try await console.signIn(["support"])
        let purchaser = await console.get(Self.page("originalTransactionID", "9000000000001"), cookie: cookie).text
        for sentence in [
            "The current period costs 4.99 EUR for each seat on average.",
            "It has 1,200 seats, of which Apple has refunded 3. The next period has 1 seat.",
            "Bill 2 of 12 of a commitment.", "<dt>Storefront</dt><dd>DEU</dd>",
            "<bdi>seats added (monthly)</bdi>", "<bdi>will have fewer seats from the next renewal (monthly)</bdi>",
        ] { #expect(purchaser.contains(sentence), "\(sentence)") }
        let user = await console.get(Self.page("originalTransactionID", "9000000000002"), cookie: cookie).text
        #expect(user.contains("A seat of a group or an organisation. Only the purchaser can redeem offers."))
        #expect(!user.contains("costs") && !user.contains("1,200"))
        // The next bill comes although the commitment is cancelled, but not after auto-renew is off.
        for (day, status, hasNext) in [(2, AutoRenewStatus.on, true), (3, .off, false)] as [(Double, _, Bool)] {
            let off = Sample.renewal(of: "9000000000001", signed: day) {
                $0 = Renewal(productID: $0.productID, autoRenewStatus: status)
                $0.quantity = 1
                $0.commitment = CommitmentRenewal(autoRenewStatus: .off)
            }
            try await console.store.merge([off], in: Sample.production)
            let leaving = await console.get(Self.page("originalTransactionID", "9000000000001"), cookie: cookie).text
            #expect(leaving.contains("It has 1,200 seats") && leaving.contains("The next period has") == hasNext)
        }
    }

    @Test("the terms of an offer stand beside it once App Store Connect has been read")
    func terms() async throws {
        let console = try await TestConsole()
        try await Self.addCustomers(console)
        let cookie = try await console.signIn(["support"])
        let page = Self.page("originalTransactionID", "9000000000001")
        #expect(!(await console.get(page, cookie: cookie)).text.contains("free for"))
        let terms = try #require(
            console.application.policy.snapshot.catalogue?.apps[Sample.bundleID]?.rules.offers.first)
        var offer = OfferListing(offerID: terms.offerID)
        (offer.mode, offer.duration, offer.numberOfPeriods) = (.freeTrial, .oneMonth, 1)
        var product = ProductListing(productID: terms.productID, groupID: "21012345")
        product.offers = [offer]
        console.application.policy.use([
            Sample.bundleID: AppListing(appAppleID: 1, groups: [], products: [product], readAt: Sample.day(9))
        ])
        #expect((await console.get(page, cookie: cookie)).text.contains("free for 1 month"))
    }

    @Test(
        "the offers are the same under each name of the customer",
        arguments: [
            "appAccountToken", "originalTransactionID", "transactionID", "appTransactionID",
        ])
    func names(kind: String) async throws {
        let console = try await TestConsole()
        try await Self.addCustomers(console)
        let cookie = try await console.signIn(["support"])
        let ids = [
            "appAccountToken": String(decoding: Sample.token(1).utf8, as: UTF8.self),
            "appTransactionID": "704100000001",
        ]
        let page = await console.get(Self.page(kind, ids[kind] ?? "9000000000001"), cookie: cookie)
        #expect(page.text.contains("1 of 1 offer can be redeemed now"))
    }

    @Test("digits that are a username and a transaction lead to both customers, each with its line")
    func ambiguous() async throws {
        let console = try await TestConsole()
        try await Self.addCustomers(console)
        let username = CustomerIdentifier.applicationUsername(Sample.text("9000000000001"))
        try await console.store.setTeamFacts(
            [Sample.text("isSomebodyElse"): .bool(true)], of: username, in: Sample.production, at: Sample.day(1))
        let cookie = try await console.signIn(["support"])
        let page = await console.get("/find?q=9000000000001", cookie: cookie)
        #expect(page.status == 200 && page.text.contains("matches more than one customer"))
        #expect(page.text.contains("kind=applicationUsername") && page.text.contains("kind=transactionID"))
        #expect(try console.auditLines().count { $0.contains("console_customer") } == 2)
    }

    @Test("a link of another site looks at nobody in the person's name")
    func otherSite() async throws {
        let console = try await TestConsole()
        try await Self.addCustomers(console)
        let cookie = try await console.signIn(["support"])
        for target in ["/find?q=9000000000001", Self.page("originalTransactionID", "9000000000001")] {
            for site in ["cross-site", "same-site"] {
                let answer = await console.respond(
                    HTTPRequest(
                        method: "GET", target: target, host: "console.example",
                        browser: BrowserHeaders(cookies: [cookie], fetchSite: site)))
                #expect(answer.status == 200 && answer.text.contains("value=\"9000000000001\""), "\(target)")
                #expect(!answer.text.contains("monthly"))
            }
        }
        #expect(try console.auditLines().count == 1, "the sign-in")
    }

    @Test("nobody is found by what nobody has, and the page says what was tried")
    func nobody() async throws {
        let console = try await TestConsole()
        try await Self.addCustomers(console)
        let cookie = try await console.signIn(["support"])
        for query in ["9000000000003", "nobody", "MK5TTTVWJH", "00000000-0000-4000-8000-000000000000"] {
            let answer = await console.get("/find?q=\(query)", cookie: cookie)
            #expect(answer.status == 200 && answer.text.contains("No customer has this identifier"), "\(query)")
        }
        #expect(await console.get(Self.page("originalTransactionID", "1"), cookie: cookie).status == 404)
        #expect(
            await console.get(
                "/customer?app=com.example.other&environment=Production&kind=transactionID&id=1", cookie: cookie
            ).status == 404)
        #expect(await console.get("/customer", cookie: cookie).status == 404)
    }

    @Test("each search and each look at a customer has its line, with the person and without the customer's name")
    func audit() async throws {
        let console = try await TestConsole()
        try await Self.addCustomers(console)
        let cookie = try await console.signIn(["support"], name: "Ada Lovelace")
        _ = await console.get("/find?q=9000000000001", cookie: cookie)
        _ = await console.get(Self.page("originalTransactionID", "9000000000001"), cookie: cookie)
        _ = await console.get(Self.page("originalTransactionID", "1"), cookie: cookie)
        let lines = try console.auditLines()
        let kinds = ["sign_in", "search", "customer", "customer"].map {
            #""kind":"console_\#($0)","person":"Ada Lovelace""#
        }
        #expect(lines.count == kinds.count)
        for (line, kind) in zip(lines, kinds) { #expect(line.contains(kind)) }
        #expect(!lines.joined().contains("9000000000001"))
    }

    @Test("an auditor finds the lines about a customer, also in renamed files")
    func auditOfCustomer() async throws {
        let console = try await TestConsole()
        try await Self.addCustomers(console)
        let support = try await console.signIn(["support"], name: "Ada Lovelace")
        let token = Sample.token(1).utf8.map { String(UnicodeScalar($0)) }.joined()
        _ = await console.get(
            "/customer?app=com.example.app&environment=Production&kind=appAccountToken&id=\(token)", cookie: support)
        _ = await console.get(Self.page("originalTransactionID", "9000000000002"), cookie: support)
        try FileManager.default.moveItem(atPath: console.auditPath, toPath: console.auditPath + ".1")
        let auditor = try await console.signIn(["auditor"], name: "Grace")
        func rows(_ query: String, _ kind: String) async -> Int {
            let page = await console.get("/audit\(query)", cookie: auditor).text
            return page.components(separatedBy: "<bdi>console_\(kind)</bdi>").count - 1
        }
        #expect(await rows("", "customer") == 2)
        #expect(await rows("", "sign_in") == 2)
        #expect(await rows("?customer=\(token)", "customer") == 1)
        #expect(await rows("?customer=+\(token.uppercased())+", "customer") == 1)
        #expect(await rows("?customer=9000000000002", "customer") == 1)
        #expect(await rows("?customer=9000000000002", "sign_in") == 0)
        #expect(await rows("?customer=nobody", "customer") == 0)
        #expect(try console.auditLines().contains { $0.contains("console_audit") && $0.contains("\"customer\"") })
        #expect(
            await console.get("/audit?customer=9000000000002", cookie: support).text.contains("console_customer"),
            "one's own lines are not filtered")
    }

    @Test("hostile texts are shown as texts, and oversized ones are refused")
    func hostile() async throws {
        let console = try await TestConsole()
        let cookie = try await console.signIn(["support", "operator", "auditor", "marketing"], name: "<b>\"Eve'&")
        let script = "%3Cscript%3Ealert(1)%3C%2Fscript%3E%22'"
        let found = await console.get("/find?q=\(script)", cookie: cookie)
        #expect(found.status == 200 && !found.text.contains("<script") && found.text.contains("&lt;script&gt;"))
        let account = CustomerIdentifier.applicationUsername(Sample.text("<script>alert(2)</script>\u{202E}\"'"))
        try await console.store.setTeamFacts(
            [Sample.text("<img src=x>"): .text(Array("</td><script>".utf8))], of: account, in: Sample.production,
            at: Sample.day(1))
        let page = await console.get(
            Self.page("applicationUsername", "%3Cscript%3Ealert(2)%3C%2Fscript%3E%E2%80%AE%22'"), cookie: cookie)
        #expect(page.status == 200 && !page.text.contains("<script") && !page.text.contains("<img"))
        #expect(!page.text.contains("\u{202E}") && !page.text.contains("<b>\"Eve"))
        let long = String(repeating: "a", count: 1_000_000)
        #expect(await console.get("/find?q=\(long)", cookie: cookie).status == 400)
        #expect(await console.post("/clock", "offset=\(long)", cookie: cookie).status == 400)
        for query in ["q=a&q=b", "x=1", "q", "q=%ff", "q=%0", "q=%00", "&"] {
            #expect(await console.get("/find?\(query)", cookie: cookie).status == 400, "\(query)")
        }
        #expect(await console.post("/clock", "offset=60", cookie: cookie, contentType: "text/plain").status == 400)
    }
}
