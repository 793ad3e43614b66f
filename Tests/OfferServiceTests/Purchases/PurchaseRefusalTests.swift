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

    /// Proofs that name no account, and that anybody can copy: a receipt, an AppTransaction, and both.
    private static func copies() throws -> [String] {
        let receipt = try RefusedProof.receipt(purchases: 1)
        let payload = RefusedProof.appTransaction.with("appTransactionId", #""700""#)
        let download = #"{"signedAppTransaction":\#(try Proofs.jws(payload))"#
        return [receipt, download + "}", download + "," + receipt.dropFirst()]
    }

    /// A service that knows a customer who has renewed until day 60, or nobody. It is day 40.
    /// - Parameter owner: the customer's account; nil for none.
    private static func service(knowsCustomer: Bool = true, owner: UInt64? = nil) async throws -> StoreService {
        let service = try StoreService("{offerID: keep, rule: retention}")
        service.setDay(40)
        guard knowsCustomer else { return service }
        func own(_ purchase: inout Purchase) {
            purchase.appAccountToken = owner.map(Sample.token)
            purchase.appTransactionID = Sample.id("700")
        }
        try await service.store.merge(
            [
                Sample.transaction("1000", of: "1000", 0, 30, own),
                Sample.transaction("1500", of: "1000", 30, 60, signed: 30, own),
                Sample.renewal(of: "1000", signed: 31),
            ], in: Sample.sandbox)
        return service
    }

    private static func answers(_ service: StoreService, to account: UInt64) async throws -> [String] {
        var answers: [String] = []
        // What the first requests stored changes nothing.
        for proofs in try copies() + copies() {
            let answer = await service.post("/v1/purchases", StoreService.token(account) + #","proofs":"# + proofs)
            #expect(answer.status == 200, "\(answer.text)")
            answers.append(answer.text)
        }
        return answers
    }

    @Test("copied proofs show a stranger what they say, and nothing that happened since")
    func copied() async throws {
        let stranger = try await Self.answers(Self.service(), to: 9)
        #expect(try await stranger == Self.answers(Self.service(knowsCustomer: false), to: 9))
        #expect(stranger[0].contains(#""originalTransactionID":"1000""#) && !stranger[0].contains("autoRenews"))
        // The owner is known, and so is what happened since.
        for answer in try await Self.answers(Self.service(owner: 9), to: 9) {
            #expect(answer.contains(#""state":"active""#), "\(answer)")
        }
    }

    @Test("an account that is known learns nothing from the AppTransaction of another Apple Account")
    func anothersDownload() async throws {
        var answers: [String] = []
        for knowsCustomer in [true, false] {
            let service = try await Self.service(knowsCustomer: knowsCustomer)
            try await service.store.merge(
                [
                    Sample.transaction("7000", of: "7000", 0, 30) {
                        ($0.appAccountToken, $0.appTransactionID) = (Sample.token(7), Sample.id("707"))
                    }
                ], in: Sample.sandbox)
            let answer = await service.post(
                "/v1/purchases", StoreService.token(7) + #","proofs":"# + (try Self.copies()[1]))
            #expect(answer.status == 200)
            answers.append(answer.text)
        }
        #expect(answers[0] == answers[1] && !answers[0].contains("active"), "\(answers)")
    }
}
