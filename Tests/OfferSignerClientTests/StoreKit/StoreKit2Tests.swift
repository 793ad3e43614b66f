import Foundation
import StoreKit
import Testing

@testable import OfferSignerClient

@Suite struct StoreKit2Tests {
    private let product = Product(id: Fixtures.productID, subscriptionGroupID: Fixtures.groupID)

    /// Buys with a scripted App Store.
    private func purchase(
        _ transport: ScriptedTransport, customer: OfferCustomer = Fixtures.customer, _ store: ScriptedAppStore,
        of product: Product? = nil, plan: BillingPlan? = nil
    ) async throws(OfferError) -> OfferPurchase {
        let client = await Fixtures.client(transport, customer: customer)
        let offer = try await client.offer(productID: Fixtures.productID, offerID: "half", billingPlan: plan)
        let product = product ?? self.product
        let result: Result<OfferPurchase, OfferError> = await ScriptedAppStore.$current.withValue(store) {
            do throws(OfferError) { return .success(try await client.purchase(product, with: offer)) } catch {
                return .failure(error)
            }
        }
        await client.finishReporting()
        return try result.get()
    }

    private func store(_ outcomes: ScriptedAppStore.Outcome...) -> ScriptedAppStore {
        let store = ScriptedAppStore()
        store.with { $0.outcomes = outcomes }
        return store
    }

    /// The reported events, as kinds, nonces and errors.
    private func events(_ transport: ScriptedTransport) -> [[String?]] {
        transport.requests(to: "v1/offers/events").flatMap { $0.json["events"] as? [[String: Any]] ?? [] }
            .map { event in ["event", "nonce", "error"].map { event[$0] as? String } }
    }

    // MARK: Options

    @Test("a purchase passes the JWS unchanged, with the account token and the plan of the answer")
    func jws() async throws {
        let transport = ScriptedTransport(Fixtures.signed(1, plan: "MONTHLY"), answersEvents: true)
        let store = store(.buys)
        let purchase = try await purchase(transport, store)
        #expect(purchase.status == .purchased && !purchase.startsNextPeriod)
        #expect(
            store.presented == [
                .init(
                    productID: Fixtures.productID, offerID: "half", appAccountToken: Fixtures.token,
                    compactJWS: Fixtures.jws(1001), billingPlan: "MONTHLY")
            ])
        #expect(events(transport) == [["purchased", Fixtures.nonce(1001), nil]])
        // Delivering and finishing is the app's part.
        #expect(store.finished.isEmpty)
    }

    @Test("without a JWS, a purchase passes the decoded signature of 2019")
    func original() async throws {
        let transport = ScriptedTransport(Fixtures.signed(1, jws: false), answersEvents: true)
        let store = store(.buys)
        #expect(try await purchase(transport, store).status == .purchased)
        #expect(
            store.presented == [
                .init(
                    productID: Fixtures.productID, offerID: "half", appAccountToken: Fixtures.token,
                    keyID: "2X9R4HXF34",
                    nonce: Fixtures.nonce(1), timestamp: 1_767_225_600_000, signature: Fixtures.signature)
            ])
        #expect(events(transport) == [["purchased", Fixtures.nonce(1), nil]])
    }

    @Test("a signed-in user's token comes from the answer")
    func tokenOfTheAnswer() async throws {
        let store = store(.buys)
        _ = try await purchase(
            ScriptedTransport(Fixtures.signed(1), answersEvents: true), customer: .signedInUser, store)
        #expect(store.presented.first?.appAccountToken == Fixtures.token)
    }

    @Test("StoreKit 2 cannot attach a username, so the original form is not tried with one")
    func username() async throws {
        let name = #""applicationUsername":"8d7f9a52c4e1""#
        let store = store(.buys)
        let original = ScriptedTransport(Fixtures.signed(1, jws: false, customer: name), answersEvents: true)
        let error = await failure { () async throws(OfferError) in
            try await purchase(original, customer: .applicationUsername("8d7f9a52c4e1"), store)
        }
        #expect(error?.code == .noUsableSignature && store.presented.isEmpty)
        // A JWS does not contain the name.
        let jws = ScriptedTransport(Fixtures.signed(1, customer: name), answersEvents: true)
        #expect(try await purchase(jws, customer: .applicationUsername("8d7f9a52c4e1"), store).status == .purchased)
        #expect(store.presented.first?.appAccountToken == nil)
    }

    @Test("an anonymous customer's purchase has no token")
    func anonymous() async throws {
        let store = store(.buys)
        let transport = ScriptedTransport(
            Fixtures.signed(1, jws: false, customer: #""applicationUsername":"""#), answersEvents: true)
        _ = try await purchase(transport, customer: .anonymous, store)
        #expect(store.presented.first?.appAccountToken == nil && store.presented.first?.signature != nil)
    }

    @Test("another product, or a plan that StoreKit does not know, takes no signature")
    func noSignatureSpent() async throws {
        let transport = ScriptedTransport(answersEvents: true)
        let other = Product(id: "other", subscriptionGroupID: "1")
        let wrong = await failure { () async throws(OfferError) in
            try await purchase(transport, store(.buys), of: other)
        }
        #expect(wrong?.code == .anotherProduct)
        let plan = await failure { () async throws(OfferError) in
            try await purchase(transport, store(.buys), plan: BillingPlan(rawValue: "WEEKLY"))
        }
        #expect(plan?.code == .billingPlanUnavailable && transport.requests.isEmpty)
    }

    // MARK: Outcomes

    @Test("a JWS that is accepted but not applied is noticed")
    func notApplied() async throws {
        let transport = ScriptedTransport(Fixtures.signed(1), answersEvents: true)
        let purchase = try await purchase(transport, store(.buysWithoutOffer))
        #expect(purchase.status == .signedButNotApplied && purchase.transaction != nil)
        #expect(events(transport) == [["failed", Fixtures.nonce(1001), "signedButNotApplied"]])
    }

    @Test("an offer of a subscriber starts with the next period, so the renewal info shows it")
    func nextPeriod() async throws {
        let transport = ScriptedTransport(Fixtures.signed(1), answersEvents: true)
        let purchase = try await purchase(transport, store(.buysForNextPeriod))
        #expect(purchase.status == .purchased && purchase.startsNextPeriod)
    }

    @Test("a customer who has paid does not wait for the report")
    func reportsInTheBackground() async throws {
        let gate = GatedTransport()
        let transport = SplitTransport(events: gate, others: ScriptedTransport(Fixtures.signed(1)))
        let client = await Fixtures.client(transport)
        let offer = try await client.offer(productID: Fixtures.productID, offerID: "half")
        let (store, product) = (store(.buys), product)
        let purchase = try await ScriptedAppStore.$current.withValue(store) {
            try await client.purchase(product, with: offer)
        }
        #expect(purchase.status == .purchased)
        await gate.waitForRequest()
        await gate.open(TransportAnswer(status: 204, headers: [:], body: Data()))
        await client.finishReporting()
    }

    @Test("a cancelled sheet is not an error, and the next tap has a new signature")
    func cancelledSheet() async throws {
        let transport = ScriptedTransport(
            Fixtures.signed(1), Fixtures.signed(2), answersEvents: true)
        let client = await Fixtures.client(transport)
        let offer = try await client.offer(productID: Fixtures.productID, offerID: "half")
        let store = store(.cancels, .buys)
        let product = product
        try await ScriptedAppStore.$current.withValue(store) {
            let first = try await client.purchase(product, with: offer)
            #expect(first.status == .cancelled)
            let second = try await client.purchase(product, with: offer)
            #expect(second.status == .purchased)
        }
        await client.finishReporting()
        #expect(Set(transport.keys(to: "v1/promotional-offers")).count == 2)
        #expect(store.presented.map(\.compactJWS) == [Fixtures.jws(1001), Fixtures.jws(1002)])
        #expect(events(transport).first == ["failed", Fixtures.nonce(1001), "userCancelled"])
    }

    @Test("a purchase that waits for approval is pending")
    func pending() async throws {
        let transport = ScriptedTransport(Fixtures.signed(1), answersEvents: true)
        let purchase = try await purchase(transport, store(.waitsForApproval))
        #expect(purchase.status == .pending && purchase.transaction == nil)
        #expect(events(transport) == [["pending", Fixtures.nonce(1001), nil]])
    }

    @Test("an unverified transaction is not taken for the offer")
    func unverified() async throws {
        let transport = ScriptedTransport(Fixtures.signed(1), answersEvents: true)
        #expect(try await purchase(transport, store(.buysUnverified)).status == .unverified)
    }

    @Test("StoreKit's other errors are reported by name, without another signature")
    func otherErrors() async throws {
        let transport = ScriptedTransport(Fixtures.signed(1), answersEvents: true)
        let error = await failure { () async throws(OfferError) in
            try await purchase(transport, store(.fails(Product.PurchaseError.ineligibleForOffer)))
        }
        #expect(error?.code == .purchaseFailed && error?.storeKitError == "ineligibleForOffer")
        #expect(events(transport) == [["failed", Fixtures.nonce(1001), "ineligibleForOffer"]])
        #expect(transport.requests(to: "v1/promotional-offers").count == 1)
    }

    // MARK: Rejected signatures

    @Test("a rejected signature is explained by name, and not replaced")
    func rejected() async throws {
        let transport = ScriptedTransport(
            Fixtures.signed(1, jws: false),
            Fixtures.explanation(verifies: false, cause: "customer_not_signed"), answersEvents: true)
        let store = store(.buys)
        // A wrong token: the App Store finds that the signature does not cover it.
        store.with { $0.verify = { $0.appAccountToken != Fixtures.token } }
        let error = await failure { () async throws(OfferError) in try await purchase(transport, store) }
        #expect(error?.code == .signatureRejected && error?.explanation?.cause == .customerNotSigned)
        let sent = try #require(transport.requests(to: "v1/explanations").first?.json)
        #expect(sent["storeKitError"] as? String == "invalidOfferSignature")
        #expect(sent["signature"] as? String == Fixtures.signature && sent["compactJWS"] == nil)
        #expect(store.presented.count == 1)
    }

    @Test("a spent nonce is replaced by a new signature under a new key")
    func spentNonce() async throws {
        let transport = ScriptedTransport(
            Fixtures.signed(1), Fixtures.explanation(verifies: true, cause: nil),
            Fixtures.signed(2), answersEvents: true)
        let store = store(.buys)
        store.with { $0.spent = [Fixtures.nonce(1001)] }
        #expect(try await purchase(transport, store).status == .purchased)
        #expect(Set(transport.keys(to: "v1/promotional-offers")).count == 2)
        #expect(events(transport).map { $0[0] } == ["failed", "purchased"])
    }

    @Test("an expired JWS is replaced at most twice")
    func expiredJWS() async throws {
        let transport = ScriptedTransport(
            Fixtures.signed(1), Fixtures.explanation(verifies: true, cause: nil),
            Fixtures.signed(2), Fixtures.explanation(verifies: true, cause: nil),
            Fixtures.signed(3), Fixtures.explanation(verifies: true, cause: nil), answersEvents: true)
        let store = store(.buys)
        store.with { ($0.now, $0.lifetimeOfJWS) = (1_767_225_600 + 3600, 600) }
        let error = await failure { () async throws(OfferError) in try await purchase(transport, store) }
        #expect(error?.code == .signatureRejected && store.presented.count == 3)
        #expect(transport.requests(to: "v1/promotional-offers").count == 3)
    }

    @Test("if the new signature is refused, the error is the rejection")
    func refusedReplacement() async throws {
        let transport = ScriptedTransport(
            Fixtures.signed(1), Fixtures.problem(403, "scope_missing"),
            Fixtures.problem(422, "not_eligible", #","reasons":[{"code":"outstanding"}]"#), answersEvents: true)
        let store = store(.buys)
        store.with { $0.verify = { _ in false } }
        let error = await failure { () async throws(OfferError) in try await purchase(transport, store) }
        #expect(error?.code == .signatureRejected && error?.explanation == nil)
    }

    @Test("lost answers and new signatures share the budget of a tap")
    func sharedBudget() async throws {
        let transport = ScriptedTransport(
            Fixtures.lost, Fixtures.lost, Fixtures.signed(1),
            Fixtures.explanation(verifies: true, cause: nil), answersEvents: true)
        let store = store(.buys)
        store.with { $0.spent = [Fixtures.nonce(1001)] }
        let error = await failure { () async throws(OfferError) in try await purchase(transport, store) }
        #expect(error?.code == .signatureRejected)
        #expect(transport.requests(to: "v1/promotional-offers").count == 3)
    }

    // MARK: Proofs

    @Test("proofs are the renewal infos with their transactions, the newest transactions, and the app transaction")
    func proofs() async throws {
        let store = ScriptedAppStore()
        func transaction(_ id: UInt64, _ group: String, type: Product.ProductType = .autoRenewable) -> Transaction {
            Transaction(
                id: id, originalID: id, productID: "p", productType: type, subscriptionGroupID: group,
                purchaseDate: Date(timeIntervalSince1970: Double(id)), jws: "t\(id)")
        }
        store.with { state in
            state.transactions = (1...30).map { .verified(transaction($0, $0 == 3 ? Fixtures.groupID : "2")) }
            state.transactions.append(.verified(transaction(40, "9", type: .consumable)))
            state.transactions.append(.unverified(transaction(41, "2"), .invalidSignature))
            state.statuses = [
                .init(
                    transaction: .verified(transaction(3, Fixtures.groupID)),
                    renewalInfo: .verified(.init(originalTransactionID: 3, jws: "r3")))
            ]
            state.appTransaction = AppTransaction(appTransactionID: "704", environment: .sandbox, jws: "app")
        }
        let product = product
        let proofs = await ScriptedAppStore.$current.withValue(store) { await DeviceProofs.gathered(for: product) }
        #expect(proofs.signedTransactions.count == 24 && proofs.signedTransactions.prefix(2) == ["t3", "t30"])
        #expect(proofs.signedRenewalInfos == ["r3"])
        #expect(proofs.signedAppTransaction == "app" && proofs.environment == "Sandbox")
        #expect(proofs.transactionID == "3")
    }

    @Test("a customer without purchases is bound by the app transaction")
    func newCustomer() async throws {
        let store = ScriptedAppStore()
        store.with { $0.appTransaction = AppTransaction(appTransactionID: "704", environment: .production) }
        let proofs = await ScriptedAppStore.$current.withValue(store) { await DeviceProofs.gathered() }
        #expect(proofs.transactionID == "704" && proofs.signedTransactions.isEmpty)
        #expect(
            await ScriptedAppStore.$current.withValue(ScriptedAppStore()) { await DeviceProofs.gathered() } == .none)
    }
}

/// Sends events another way than the other requests.
private struct SplitTransport: OfferTransport {
    let events: any OfferTransport
    let others: any OfferTransport

    func send(_ request: TransportRequest) async throws -> TransportAnswer {
        try await (request.path == "v1/offers/events" ? events : others).send(request)
    }
}
