import Foundation
import NIOConcurrencyHelpers
import OfferCore
import OfferEligibility
import OfferHTTP
import StoreTestSupport
import SubscriberStore
import TestSupport
import Testing

@testable import AppStoreTestSupport

/// Everything that proofs are tested with, over the route that stores them.
@Suite("Purchases that are not the app's or the customer's to show")
struct PurchaseRefusalTests {
    private typealias Proofs = DecisionProofTests

    /// Everything that a service has stored.
    private static func records(_ service: StoreService) async throws -> [String] {
        let lines = NIOLockedValueBox<[String]>([])
        try await service.store.forEachRecord { record in
            lines.withLockedValue { $0.append(String(decoding: record.line, as: UTF8.self)) }
        }
        return lines.withLockedValue { $0.sorted() }
    }

    /// Expects a refusal, after which the service has stored nothing.
    private static func expectRefusal(
        _ service: StoreService, _ members: String, token: String? = nil, _ code: String, reason: String? = nil,
        at location: SourceLocation = #_sourceLocation
    ) async throws {
        let before = try await records(service)
        let answer = await service.post("/v1/purchases", members, token: token)
        #expect(
            answer.status == 422 && answer.json["code"] as? String == code, "\(answer.text)", sourceLocation: location)
        #expect(answer.json["reason"] as? String == reason, "\(answer.text)", sourceLocation: location)
        #expect(try await records(service) == before, sourceLocation: location)
    }

    @Test("proofs that every route refuses store nothing")
    func badProofs() async throws {
        // Without an Apple ID, an app is served in the sandbox only.
        let service = try StoreService(
            "{offerID: keep, rule: retention}", app: "introductoryOffers: {rule: app_store_default}")
        try await service.store.merge([Sample.transaction("1", of: "1", 0, 30)], in: Sample.sandbox)
        let before = try await Self.records(service)
        #expect(!before.isEmpty)
        for refused in try RefusedProof.all() {
            refused.expectRefusal(
                await service.post("/v1/purchases", StoreService.token() + #","proofs":\#(refused.proofs)"#))
        }
        #expect(try await Self.records(service) == before)
        // The same service takes what is right.
        let most = await service.post(
            "/v1/purchases", StoreService.token() + #","proofs":\#(try RefusedProof.receipt(purchases: 250))"#)
        #expect(most.status == 200, "\(most.text)")
        #expect(try await Self.records(service).count == before.count + 250)
    }

    @Test("proofs of two environments, or of another than the request names, store nothing")
    func environments() async throws {
        let service = try StoreService("{offerID: keep, rule: retention}")
        let sandbox = Proofs.transaction("2000").with("environment", #""Sandbox""#)
        let mixed = try Proofs.proofs([Proofs.transaction(), sandbox], [])
        try await Self.expectRefusal(
            service, StoreService.token() + "," + mixed, "proof_refused", reason: "several_environments")
        let named = StoreService.token() + #","environment":"Sandbox","# + (try Proofs.proofs())
        try await Self.expectRefusal(service, named, "proof_refused", reason: "several_environments")
    }

    @Test(
        "a receipt that shares no purchase with the account's own, or with the transactions beside it, stores nothing")
    func receipts() async throws {
        let service = try StoreService("{offerID: keep, rule: retention}")
        try await service.store.merge(
            [Sample.transaction("1001", of: "1001", 0, 30) { $0.appAccountToken = Sample.token(1) }],
            in: Sample.sandbox)
        let receipt = try RefusedProof.receipt(purchases: 1)
        let known = StoreService.token() + #","proofs":"# + receipt
        try await Self.expectRefusal(service, known, "another_customers_proof")
        // Account 2 is unknown. Its own transaction says whose receipt it cannot be.
        let own = Proofs.transaction("3000", account: 2).with("environment", #""Sandbox""#)
        let both = #","proofs":{"signedTransactions":[\#(try Proofs.jws(own))],"# + receipt.dropFirst()
        try await Self.expectRefusal(service, StoreService.token(2) + both, "another_customers_proof")
        // One that names another account is that account's.
        let friends = Proofs.transaction("1000", account: 3).with("environment", #""Sandbox""#)
        let theirs = #","proofs":{"signedTransactions":[\#(try Proofs.jws(friends))],"# + receipt.dropFirst()
        try await Self.expectRefusal(service, StoreService.token(2) + theirs, "another_customers_proof")
    }

    @Test("a signed-in user stores purchases for the own account only")
    func users() async throws {
        let provider = AccountProvider()
        let service = try StoreService("{offerID: keep, rule: retention}", userIssuers: [provider.issuer])
        try await provider.join(service)
        let own = try Proofs.proofs([Proofs.transaction(account: 1)], [])
        let before = try await Self.records(service)
        for members in [own, StoreService.token(1) + "," + own] {
            let answer = await service.post("/v1/purchases", members, token: try provider.token(2))
            #expect((400..<500).contains(answer.status), "\(answer.text)")
            #expect(try await Self.records(service) == before)
        }
        let answer = await service.post("/v1/purchases", own, token: try provider.token(1))
        #expect(answer.status == 200 && answer.text.contains(#""finish":true"#), "\(answer.text)")
        #expect(try await Self.records(service).count > before.count)
    }

    @Test("a copied receipt shows its own contents, and nothing that happened since")
    func copiedReceipt() async throws {
        func answer(_ account: UInt64, isOwn: Bool, _ proofs: String) async throws -> [String: Any] {
            let service = try StoreService("{offerID: keep, rule: retention}")
            // A purchase of someone without an account, and a renewal until day 60.
            let owner = isOwn ? Sample.token(account) : nil
            try await service.store.merge(
                [
                    Sample.transaction("1000", of: "1000", 0, 30) { $0.appAccountToken = owner },
                    Sample.transaction("1500", of: "1000", 30, 60, signed: 30) { $0.appAccountToken = owner },
                    Sample.renewal(of: "1000", signed: 31),
                ], in: Sample.sandbox)
            service.setDay(40)
            let answer = await service.post("/v1/purchases", StoreService.token(account) + #","proofs":"# + proofs)
            #expect(answer.status == 200, "\(answer.text)")
            return answer.json
        }
        let receipt = try RefusedProof.receipt(purchases: 1)
        let stranger = try await answer(9, isOwn: false, receipt)
        let shown = try #require((stranger["subscriptions"] as? [[String: Any]])?.first)
        #expect(shown["originalTransactionID"] as? String == "1000")
        #expect(shown["status"] as? String != "active" && shown["autoRenews"] == nil, "\(stranger)")
        #expect(stranger["state"] as? String != "active")
        // The owner is known, and so is what happened since.
        let own = try await answer(9, isOwn: true, receipt)
        let current = try #require((own["subscriptions"] as? [[String: Any]])?.first)
        #expect(current["status"] as? String == "active" && current["autoRenews"] as? Bool == true, "\(own)")
        #expect(current["expiresAt"] as? Int64 == Sample.day(60).milliseconds)
    }
}
