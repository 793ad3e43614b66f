import Foundation
import OfferAudit
import OfferCore
import OfferEligibility
import OfferHTTP
import OfferService
import StoreTestSupport
import SubscriberStore
import TestSupport
import Testing

@testable import ConsoleService

@Suite("The audit page of the console")
struct AuditPageTests {
    private static let configuration = TestConsole.configuration.replacing(
        "    products:", with: "    grants: {reasons: [goodwill, outage], dailyBudget: 9}\n    products:")

    private static let order =
        "app=com.example.app&environment=Production&kind=appAccountToken&id=\(Sample.token(1))"

    /// A console with two customers.
    private static func console() async throws -> TestConsole {
        let console = try await TestConsole(configuration)
        for number in 1...2 as ClosedRange<UInt64> {
            let id = "900000000000\(number)"
            let transaction = Sample.transaction(id, of: id, 0, 30) {
                $0.appAccountToken = Sample.token(number)
                $0.appTransactionID = Sample.id("70410000000\(number)")
            }
            try await console.store.merge([transaction], in: Sample.production)
        }
        return console
    }

    /// The rows of the table, without markup.
    private static func rows(_ page: String) -> [String] {
        page.components(separatedBy: "<tbody>").last.map { $0.components(separatedBy: "<tr>").dropFirst() }?
            .map { $0.replacing(/<[^>]*>/, with: " ") } ?? []
    }

    @Test("an auditor sees who granted what and why, and finds a grant under each name of its customer")
    func grants() async throws {
        let console = try await Self.console()
        let ada = try await console.signIn(["support"])
        #expect(await console.get("/customer?\(Self.order)", cookie: ada).status == 200)
        let offer = Self.order + "&product=monthly&offer=stay&reason=outage&days=14"
        #expect(await console.post("/grant", offer, cookie: ada).status == 303)
        let grant = try #require(
            try await console.store.grants(in: Sample.production, .all, before: nil, limit: 9).first)
        let trail = try #require(console.application.trail)
        let stored = StoredGrant(app: Sample.production, grant: grant)
        let entry = AuditEntry(
            time: console.now, requestID: "r", client: AuditEntry.Client(name: "crm"), .grantWithdrawal, stored,
            .accepted)
        #expect(await trail.add([entry])?.isDurable() == true)
        let auditor = try await console.signIn(["auditor"], name: "Grace")
        let all = Self.rows(await console.get("/audit", cookie: auditor).text)
        let made = try #require(all.first { $0.contains("console_grant ") })
        for text in ["Ada", "stay for monthly", "reason outage", "\(grant.id)"] {
            #expect(made.contains(text), "\(made)")
        }
        #expect(!made.contains("made by"))
        let withdrawn = try #require(all.first { $0.contains("customer_grant_withdrawn") })
        for text in ["crm, with the API", "stay for monthly", "\(grant.id)", "made by Ada"] {
            #expect(withdrawn.contains(text), "\(withdrawn)")
        }
        let names = [
            "\(Sample.token(1))", "\(Sample.token(1))".uppercased(), "704100000001", "9000000000001",
        ]
        for name in names {
            let found = Self.rows(await console.get("/audit?customer=\(name)", cookie: auditor).text)
                .filter { !$0.contains("console_audit") }
            #expect(found.count == 3, "\(name): \(found)")
            for kind in ["console_customer", "console_grant ", "customer_grant_withdrawn"] {
                #expect(found.contains { $0.contains(kind) }, "\(name) \(kind)")
            }
        }
        for name in ["\(Sample.token(2))", "nobody"] {
            let found = Self.rows(await console.get("/audit?customer=\(name)", cookie: auditor).text)
            #expect(found.allSatisfy { $0.contains("console_audit") }, "\(name): only the searches for it")
        }
        let chosen = await console.get("/audit?act=customer_grant_withdrawn", cookie: auditor).text
        #expect(Self.rows(chosen).count == 1)
    }

    @Test("who is no auditor sees nothing of a caller of the API with the same name")
    func own() async throws {
        let console = try await Self.console()
        let crm = try await console.signIn(["support"], name: "crm")
        let offer = Self.order + "&product=monthly&offer=stay&reason=outage&days=14"
        #expect(await console.post("/grant", offer, cookie: crm).status == 303)
        let grant = try #require(
            try await console.store.grants(in: Sample.production, .all, before: nil, limit: 9).first)
        let entry = AuditEntry(
            time: console.now, requestID: "r", client: AuditEntry.Client(name: "crm"), .grantWithdrawal,
            StoredGrant(app: Sample.production, grant: grant), .accepted)
        #expect(await console.application.trail?.add([entry])?.isDurable() == true)
        let page = await console.get("/audit", cookie: crm).text
        #expect(Self.rows(page).contains { $0.contains("console_grant ") })
        #expect(!page.contains("customer_grant"))
    }
}
