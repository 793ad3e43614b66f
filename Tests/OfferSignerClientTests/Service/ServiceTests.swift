import Foundation
import StoreKit
import Testing

@testable import OfferSignerClient

/// The client against the real service, over real sockets.
@Suite struct ServiceTests {
    private let service: RunningService
    private let product = Product(id: Fixtures.productID, subscriptionGroupID: Fixtures.groupID)

    init() throws { service = try RunningService() }

    private func proofs(_ number: Int = 1) throws -> DeviceProofs {
        try RunningService.signer.get().proofs(number, of: Fixtures.token)
    }

    /// An App Store that verifies signatures with the service's public key, and a device with one transaction.
    private func store() throws -> ScriptedAppStore {
        let store = ScriptedAppStore()
        let proofs = try proofs()
        let transaction = Transaction(
            id: 2_000_000_000_001, originalID: 2_000_000_000_001, productID: Fixtures.productID,
            subscriptionGroupID: Fixtures.groupID, purchaseDate: .distantPast, jws: proofs.signedTransactions[0])
        let info = Product.SubscriptionInfo.RenewalInfo(
            originalTransactionID: transaction.id, jws: proofs.signedRenewalInfos[0])
        let service = service
        store.with { state in
            state.transactions = [.verified(transaction)]
            state.statuses = [.init(transaction: .verified(transaction), renewalInfo: .verified(info))]
            state.verify = { presented in await service.verifies(presented.evidence) }
        }
        return store
    }

    @Test("a list has the offers that the customer may have, and why not the others")
    func list() async throws {
        let client = await Fixtures.client(try service.transport())
        let unknown = try await client.offers()
        #expect(unknown.offers.isEmpty && unknown.refused.allSatisfy { $0.reasons.contains(.unknown) })
        let list = try await client.offers(at: "cancel", of: [Fixtures.productID], proofs: proofs())
        #expect(list.offers.map(\.offerID) == ["once", "monthly"] && list.environment == "Production")
        #expect(list.refused.map(\.offerID) == ["never"], "\(list.refused)")
        // Nothing was signed.
        #expect(service.signatures == 0)
    }

    @Test("an offer is listed, bought with a valid signature, and reported")
    func purchase() async throws {
        let client = await Fixtures.client(try service.transport())
        let offers = try await client.offers(proofs: proofs()).offers
        await client.report(.shown, of: offers)
        let (store, product, offer) = (try store(), product, try #require(offers.first))
        let purchase = try await ScriptedAppStore.$current.withValue(store) {
            try await client.purchase(product, with: offer)
        }
        #expect(purchase.status == .purchased)
        #expect(store.presented.first?.compactJWS != nil && store.presented.first?.appAccountToken == Fixtures.token)
        await client.finishReporting()
        let customer = try await service.post(
            "v1/customers/lookup",
            ["bundleID": Fixtures.bundleID, "appAccountToken": Fixtures.token.uuidString, "environment": "Production"])
        let text = String(decoding: try JSONSerialization.data(withJSONObject: customer), as: UTF8.self)
        #expect(text.contains(#""event":"shown""#) && text.contains(#""event":"purchased""#), "\(text)")
    }

    @Test("an offer without a rule is bought with either form of signature")
    func withoutRule() async throws {
        let client = await Fixtures.client(try service.transport())
        let offer = try await client.offer(productID: Fixtures.productID, offerID: "plain")
        let (store, product) = (try store(), product)
        _ = try await ScriptedAppStore.$current.withValue(store) { try await client.purchase(product, with: offer) }
        // Without a transaction, there is no JWS.
        let service = service
        let empty = ScriptedAppStore()
        empty.with { $0.verify = { presented in await service.verifies(presented.evidence) } }
        let purchase = try await ScriptedAppStore.$current.withValue(empty) {
            try await client.purchase(product, with: offer)
        }
        #expect(purchase.status == .purchased)
        #expect(store.presented.first?.compactJWS != nil && empty.presented.first?.signature != nil)
        let signed = try await client.sign(offer)
        #expect(signed.compactJWSMissing == ["transaction_id_missing"])
        #expect((86_398...86_400).contains(signed.secondsValid ?? 0))
    }

    @Test("an offer for one place in the app is signed where it was listed")
    func placement() async throws {
        let service = try RunningService("          - {offerID: placed, rule: {placement: cancel}, priority: 99}")
        let client = await Fixtures.client(try service.transport())
        let placed = try #require(try await client.offers(at: "cancel", proofs: proofs()).offers.first)
        #expect(placed.offerID == "placed")
        #expect(try await client.sign(placed, proofs: proofs()).signature != nil)
        let elsewhere = try await client.offers(at: "settings", proofs: proofs()).offers
        #expect(!elsewhere.isEmpty && !elsewhere.contains { $0.offerID == "placed" })
    }

    @Test("the plan of an offer reaches StoreKit")
    func plan() async throws {
        let client = await Fixtures.client(try service.transport())
        let list = try await client.offers(proofs: proofs())
        let offer = try #require(list.offers.first { $0.offerID == "monthly" })
        let (store, product) = (try store(), product)
        _ = try await ScriptedAppStore.$current.withValue(store) { try await client.purchase(product, with: offer) }
        #expect(store.presented.first?.billingPlan == "MONTHLY")
    }

    @Test("the cause of a wrong token is named")
    func wrongToken() async throws {
        let client = await Fixtures.client(try service.transport())
        let offer = try await client.offer(productID: Fixtures.productID, offerID: "plain")
        let service = service
        let store = ScriptedAppStore()
        store.with { $0.verify = { presented in await service.verifies(presented.evidence) } }
        let product = product
        let error = await ScriptedAppStore.$current.withValue(store) {
            await failure { () async throws(OfferError) in
                // An app that adds its own token, against the advice.
                try await client.purchase(product, with: offer) { product, options in
                    let other = options.filter { !String(describing: $0).contains("accountToken") }
                    return try await product.purchase(options: other.union([.appAccountToken(UUID())]))
                }
            }
        }
        // The client explains what it passed to StoreKit, which verifies: another part of the app changed it.
        #expect(error?.code == .signatureRejected && error?.explanation?.verifies == true)
        #expect(store.presented.count == 3)
    }

    @Test("a payment of StoreKit 1 has a valid signature")
    @MainActor func storeKit1() async throws {
        let client = await Fixtures.client(try service.transport(), customer: .applicationUsername("8d7f9a52c4e1"))
        let offer = try await client.offer(productID: Fixtures.productID, offerID: "plain")
        let queue = SKPaymentQueue()
        let service = service
        let store = ScriptedAppStore()
        store.with { $0.verify = { presented in await service.verifies(presented.evidence) } }
        try await ScriptedAppStore.$current.withValue(store) {
            _ = try await client.pay(for: SKProduct(productIdentifier: Fixtures.productID), with: offer, queue: queue)
            await queue.process()
        }
        // The transaction exists, so the signature was valid.
        #expect(store.with { $0.transactions.count } == 1)
    }

    @Test("the route of Apple's sample signs with the same client")
    func sample() async throws {
        let client = await Fixtures.client(try service.transport(), api: .sample)
        let offer = try await client.offer(productID: Fixtures.productID, offerID: "plain")
        let signed = try await client.sign(offer)
        #expect(signed.signature?.keyID == "DEVELOPKEY")
    }

    @Test("the service explains a signature by name")
    func explanation() async throws {
        let client = await Fixtures.client(try service.transport(), customer: .applicationUsername("jo"))
        let offer = try await client.offer(productID: Fixtures.productID, offerID: "plain")
        let signed = try await client.sign(offer)
        let good = try await client.explain(signed, storeKitError: "invalidOfferSignature")
        #expect(good.verifies && good.cause == nil)
        let other = SignedOffer(
            offer: offer, customer: .applicationUsername("JO"), billingPlan: nil, signature: signed.signature,
            compactJWS: nil, compactJWSMissing: [], transactionID: nil, secondsValid: nil, compactJWSNonce: nil)
        let bad = try await client.explain(other, storeKitError: "SKError 12")
        #expect(!bad.verifies && bad.cause == .letterCase && bad.field == "applicationUsername")
    }

    @Test("refusals keep the service's codes")
    func refusals() async throws {
        let client = await Fixtures.client(try service.transport())
        let unknown = try await client.offer(productID: Fixtures.productID, offerID: "nobody")
        let notServed = await failure { () async throws(OfferError) in try await client.sign(unknown) }
        #expect(notServed?.code == .offerNotServed && notServed?.status == 403)
        let never = try await client.offer(productID: Fixtures.productID, offerID: "never")
        let proofs = try proofs()
        let notEligible = await failure { () async throws(OfferError) in try await client.sign(never, proofs: proofs) }
        #expect(
            notEligible?.code == .notEligible
                && notEligible?.reasons == [RefusalReason(rawValue: "subscription_status")])
    }
}

extension ScriptedAppStore.Presented {
    /// In the form of `/v1/explanations`.
    var evidence: [String: Any] {
        let members: [(String, Any?)] = [
            ("bundleID", Fixtures.bundleID), ("productID", productID), ("offerID", offerID),
            ("appAccountToken", appAccountToken?.uuidString.lowercased()), ("applicationUsername", applicationUsername),
            ("keyID", keyID), ("nonce", nonce), ("timestamp", timestamp), ("signature", signature),
            ("compactJWS", compactJWS),
        ]
        return Dictionary(members.compactMap { name, value in value.map { (name, $0) } }) { first, _ in first }
    }
}
