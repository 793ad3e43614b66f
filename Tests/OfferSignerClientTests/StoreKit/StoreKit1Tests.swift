import Foundation
import StoreKit
import Testing

@testable import OfferSignerClient

@MainActor @Suite struct StoreKit1Tests {
    private let product = SKProduct(productIdentifier: Fixtures.productID)

    private final class Observer: SKPaymentTransactionObserver {
        var results: [OfferPaymentResult] = []

        func paymentQueue(_ queue: SKPaymentQueue, updatedTransactions transactions: [SKPaymentTransaction]) {
            results += transactions.map(OfferPaymentResult.init)
        }
    }

    /// Pays and tells the client the result, as an app's observer does.
    private func pay(
        _ transport: ScriptedTransport, _ store: ScriptedAppStore,
        customer: OfferCustomer = .applicationUsername("8d7f9a52c4e1")
    ) async throws -> PurchaseStatus? {
        let client = await Fixtures.client(transport, customer: customer)
        let offer = try await client.offer(productID: Fixtures.productID, offerID: "half")
        let queue = SKPaymentQueue()
        let observer = Observer()
        queue.add(observer)
        return try await ScriptedAppStore.$current.withValue(store) {
            let signed = try await client.pay(for: product, with: offer, queue: queue)
            await queue.process()
            return try await client.finish(signed, with: try #require(observer.results.first))
        }
    }

    private func store(_ outcome: ScriptedAppStore.Outcome) -> ScriptedAppStore {
        let store = ScriptedAppStore()
        store.with { $0.outcomes = [outcome] }
        return store
    }

    @Test("a payment carries the signature as text, and the username")
    func payment() async throws {
        let transport = ScriptedTransport(Fixtures.answer(200, Fixtures.v1(1)), answersEvents: true)
        let store = store(.buys)
        #expect(try await pay(transport, store) == .purchased)
        #expect(transport.requests.first?.path == "offer")
        #expect(
            store.presented == [
                .init(
                    productID: Fixtures.productID, offerID: "half", applicationUsername: "8d7f9a52c4e1",
                    keyID: "2X9R4HXF34", nonce: Fixtures.nonce(1), timestamp: 1_767_225_600_000,
                    signature: Fixtures.signature)
            ])
    }

    @Test("an account token is attached in lower case, as it was signed")
    func token() async throws {
        let store = store(.buys)
        _ = try await pay(
            ScriptedTransport(Fixtures.answer(200, Fixtures.v1(1)), answersEvents: true), store,
            customer: Fixtures.customer)
        #expect(store.presented.first?.applicationUsername == "d3b07384-d113-4ec6-a7b1-6f1c2f5e9b10")
    }

    @Test("a payment without the offer is noticed, with the help of StoreKit 2")
    func notApplied() async throws {
        let transport = ScriptedTransport(Fixtures.answer(200, Fixtures.v1(1)), answersEvents: true)
        #expect(try await pay(transport, store(.buysWithoutOffer)) == .signedButNotApplied)
    }

    @Test("a cancelled sheet and a payment that waits are not errors")
    func noErrors() async throws {
        let cancelled = ScriptedTransport(Fixtures.answer(200, Fixtures.v1(1)), answersEvents: true)
        #expect(try await pay(cancelled, store(.cancels)) == .cancelled)
        let pending = ScriptedTransport(Fixtures.answer(200, Fixtures.v1(1)), answersEvents: true)
        #expect(try await pay(pending, store(.waitsForApproval)) == .pending)
    }

    @Test("a rejected signature is explained by name")
    func rejected() async throws {
        let transport = ScriptedTransport(
            Fixtures.answer(200, Fixtures.v1(1)),
            Fixtures.explanation(verifies: false, cause: "letter_case"), answersEvents: true)
        let store = store(.buys)
        store.with { $0.verify = { _ in false } }
        let error = await #expect(throws: OfferError.self) { try await pay(transport, store) }
        #expect(error?.code == .signatureRejected && error?.explanation?.cause == .letterCase)
        #expect(transport.requests(to: "v1/explanations").first?.json["storeKitError"] as? String == "SKError 12")
    }

    @Test("StoreKit 1 cannot buy with a monthly plan, so nothing is signed")
    func plan() async throws {
        let transport = ScriptedTransport(answersEvents: true)
        let client = await Fixtures.client(transport)
        let offer = try await client.offer(productID: Fixtures.productID, offerID: "half", billingPlan: .monthly)
        let error = await failure { () async throws(OfferError) in
            try await client.pay(for: product, with: offer, queue: SKPaymentQueue())
        }
        #expect(error?.code == .billingPlanUnavailable && transport.requests.isEmpty)
    }
}
