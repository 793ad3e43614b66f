import AppStoreAPI
import Foundation
import NIOConcurrencyHelpers
import NIOCore
import OfferCore
import OfferEligibility
import OutgoingHTTP
import Testing

@Suite("The client of verifyReceipt")
struct ReceiptServiceTests {
    /// Answers with prepared bodies, one after the other.
    private final class ScriptedService: HTTPExchange {
        private let answers: NIOLockedValueBox<[String]>
        let requests = NIOLockedValueBox<[OutgoingRequest]>([])

        init(_ answers: [String]) { self.answers = NIOLockedValueBox(answers) }

        func exchange(
            _ request: OutgoingRequest, within limit: Duration
        ) async throws(OutgoingFailure) -> IncomingResponse {
            requests.withLockedValue { $0.append(request) }
            let body = answers.withLockedValue { $0.isEmpty ? nil : $0.removeFirst() }
            guard let body else { throw .timedOut }
            return IncomingResponse(status: 200, body: Array(body.utf8))
        }

        var hosts: [String] {
            requests.withLockedValue { requests in requests.map { String($0.url.split(separator: "/")[1]) } }
        }
    }

    private func describe(_ service: ScriptedService) async throws -> ReceiptServiceAnswer {
        let pacing = Pacing(now: { Timestamp(Date()) }, sleep: { _ in }, chance: { 0.5 })
        let client = ReceiptServiceClient(hosts: ReceiptServiceHosts(), transport: service, pacing: pacing)
        return try await client.describe([0x30, 0x00], sharedSecret: Secret("0123456789abcdef"), excludesOld: true)
    }

    @Test("asks production with the receipt, the shared secret, and whether old transactions are left out")
    func request() async throws {
        let service = ScriptedService([Self.answer])
        _ = try await describe(service)
        let request = try #require(service.requests.withLockedValue { $0.first })
        #expect(request.url == "https://buy.itunes.apple.com/verifyReceipt" && request.method == "POST")
        let body = String(decoding: request.body ?? [], as: UTF8.self)
        #expect(
            body == #"{"receipt-data":"MAA=","password":"0123456789abcdef","exclude-old-transactions":true}"#)
    }

    @Test("a deadline that has passed is no failure of the host")
    func passedDeadline() async throws {
        let service = ScriptedService([Self.answer])
        let pacing = Pacing(now: { Timestamp(Date()) }, sleep: { _ in }, chance: { 0.5 })
        let client = ReceiptServiceClient(hosts: ReceiptServiceHosts(), transport: service, pacing: pacing)
        for _ in 0..<50 {
            await #expect(throws: ReceiptServiceFailure.timedOut) {
                try await client.describe([0x30, 0x00], sharedSecret: Secret("0123456789abcdef"), by: .distantPast)
            }
        }
        #expect(service.hosts == [])
        _ = try await client.describe([0x30, 0x00], sharedSecret: Secret("0123456789abcdef"))
    }

    @Test("is referred to the sandbox by 21007")
    func sandbox() async throws {
        let service = ScriptedService([#"{"status":21007}"#, Self.answer])
        #expect(try await describe(service).environment == .sandbox)
        #expect(service.hosts == ["buy.itunes.apple.com", "sandbox.itunes.apple.com"])
    }

    @Test("reports 21008 of the sandbox, instead of going back and forth")
    func production() async throws {
        let service = ScriptedService([#"{"status":21007}"#, #"{"status":21008}"#])
        await #expect(throws: ReceiptServiceFailure.status(.ofProduction)) { try await describe(service) }
    }

    @Test(
        "repeats what may pass, twice at most",
        arguments: [
            #"{"status":21002}"#, #"{"status":21005}"#, #"{"status":21009}"#, #"{"status":21100}"#,
            #"{"status":21150,"is_retryable":1}"#, #"{"status":21199,"is_retryable":true}"#,
        ])
    func retries(temporary: String) async throws {
        let passing = ScriptedService([temporary, temporary, Self.answer])
        _ = try await describe(passing)
        let lasting = ScriptedService([temporary, temporary, temporary, Self.answer])
        await #expect(throws: ReceiptServiceFailure.self) { try await describe(lasting) }
        #expect(lasting.hosts.count == 3)
    }

    @Test(
        "does not repeat what will not pass",
        arguments: [
            #"{"status":21003}"#, #"{"status":21004}"#, #"{"status":21010}"#, #"{"status":21150,"is_retryable":0}"#,
            #"{"status":0}"#, "[]", #"{"status":0,"receipt":{"bundle_id":"com.example.app"}}"#,
        ])
    func final(answer: String) async throws {
        let service = ScriptedService([answer, Self.answer])
        await #expect(throws: ReceiptServiceFailure.self) { try await describe(service) }
        #expect(service.hosts.count == 1)
    }

    @Test("leaves a host alone that fails, and counts what became of each request")
    func pause() async throws {
        let service = ScriptedService([])
        let outcomes = NIOLockedValueBox<[String]>([])
        let pacing = Pacing(now: { Timestamp(Date()) }, sleep: { _ in }, chance: { 0.5 })
        let client = ReceiptServiceClient(hosts: ReceiptServiceHosts(), transport: service, pacing: pacing) {
            observation in outcomes.withLockedValue { $0.append(observation.outcome) }
        }
        for expected in [ReceiptServiceFailure.timedOut, .paused, .paused] {
            await #expect(throws: expected) { try await client.describe([0x30, 0x00], sharedSecret: Secret("secret")) }
        }
        #expect(service.hosts.count == 5)
        #expect(outcomes.withLockedValue { $0 } == Array(repeating: "timed_out", count: 5) + ["paused", "paused"])
    }

    @Test("of two renewals of one subscription, the one of the product bought last counts", arguments: [true, false])
    func products(isFirst: Bool) async throws {
        let other =
            #"{"original_transaction_id":"1001","product_id":"com.example.app.pro.monthly","auto_renew_status":"0"}"#
        let (start, end) = (#""pending_renewal_info":["#, #""next_offer"}]"#)
        let answer =
            isFirst
            ? Self.answer.replacing(start, with: start + other + ",")
            : Self.answer.replacing(end, with: #""next_offer"},\#(other)]"#)
        let facts = try await describe(ScriptedService([answer])).facts
        let products = facts.compactMap { fact -> String? in
            guard case .fetchedRenewalInfo(let renewal) = fact.value else { return nil }
            return renewal.productID.text.description
        }
        #expect(answer != Self.answer && products == ["com.example.app.pro.yearly"])
    }

    @Test("reads the answer about ten thousand purchases")
    func large() async throws {
        let service = ScriptedService([])
        _ = try? await describe(service)
        let limit = try #require(service.requests.withLockedValue { $0.first?.maximumResponse })
        // With all members and the dates in three forms each.
        let purchase = 1200
        #expect(limit > 10_000 * purchase)
    }

    @Test("every member becomes part of a fact that is marked as fetched")
    func facts() async throws {
        let facts = try await describe(ScriptedService([Self.answer])).facts
        let date = Timestamp(milliseconds: 1_795_000_000_000)
        #expect(facts.allSatisfy { $0.signedDate == date && $0.digest.count == 32 })
        var transactions: [String: Purchase] = [:]
        var renewals: [Renewal] = []
        for fact in facts {
            switch fact.value {
            case .fetchedTransaction(let purchase): transactions[fact.key.id.text.description] = purchase
            case .fetchedRenewalInfo(let renewal): renewals.append(renewal)
            default: Issue.record("\(fact)")
            }
        }
        #expect(Set(transactions.keys) == ["1001", "1002", "1003", "2001"])
        let trial = try #require(transactions["1001"])
        #expect(trial.offer == AppliedOffer(type: .introductory, discountType: .freeTrial))
        #expect(trial.subscriptionGroupID == "21012345" && trial.type == .autoRenewableSubscription)
        let promotional = try #require(transactions["1002"])
        #expect(promotional.offer == AppliedOffer(type: .promotional, identifier: "retention_50off_3m"))
        #expect(promotional.revocation?.reason == .appIssue && promotional.isUpgraded)
        #expect(promotional.revocation?.date == Timestamp(milliseconds: 1_793_500_000_000))
        #expect(promotional.appAccountToken != nil && promotional.webOrderLineItemID == "77")
        let code = try #require(transactions["1003"])
        #expect(code.offer == AppliedOffer(type: .offerCode, identifier: "SPRING") && code.ownership == .familyShared)
        #expect(code.expiresDate == Timestamp(milliseconds: 1_796_000_000_000))
        #expect(transactions["2001"]?.expiresDate == nil && transactions["2001"]?.type == nil)
        let renewal = try #require(renewals.first)
        #expect(renewals.count == 1 && renewal.autoRenewStatus == .on && renewal.isInBillingRetryPeriod == true)
        #expect(renewal.gracePeriodExpiresDate == Timestamp(milliseconds: 1_797_000_000_000))
        #expect(renewal.expirationIntent == .billingError && renewal.priceIncreaseStatus == .accepted)
        #expect(renewal.offer?.identifier == "next_offer" && renewal.autoRenewProductID != renewal.productID)
    }

    private static let answer = """
        {"status":0,"environment":"Production",
         "receipt":{"bundle_id":"com.example.app","adam_id":1234567890,"request_date_ms":"1795000000000",
          "in_app":[{"product_id":"com.example.app.lifetime","transaction_id":"2001","original_transaction_id":"2001",
           "purchase_date_ms":"1700000000000","is_trial_period":"false"},
          {"product_id":"com.example.app.pro.monthly","transaction_id":"1001","original_transaction_id":"1001",
           "purchase_date_ms":"1790000000000","expires_date_ms":"1792000000000"}]},
         "latest_receipt_info":[
          {"product_id":"com.example.app.pro.monthly","transaction_id":"1001","original_transaction_id":"1001",
           "purchase_date_ms":"1790000000000","expires_date_ms":"1792000000000","is_trial_period":"true",
           "is_in_intro_offer_period":"false","subscription_group_identifier":"21012345",
           "in_app_ownership_type":"PURCHASED"},
          {"product_id":"com.example.app.pro.monthly","transaction_id":"1002","original_transaction_id":"1001",
           "purchase_date_ms":"1792000000000","expires_date_ms":"1794000000000","is_upgraded":"true",
           "promotional_offer_id":"retention_50off_3m","cancellation_date_ms":"1793500000000",
           "cancellation_reason":"1","web_order_line_item_id":"77",
           "app_account_token":"6b3a0b7e-9c2e-4f0e-8d0a-1b2c3d4e5f60"},
          {"product_id":"com.example.app.pro.yearly","transaction_id":"1003","original_transaction_id":"1001",
           "purchase_date_ms":"1794000000000","expires_date_ms":1796000000000,"offer_code_ref_name":"SPRING",
           "in_app_ownership_type":"FAMILY_SHARED"}],
         "pending_renewal_info":[
          {"original_transaction_id":"1001","product_id":"com.example.app.pro.yearly",
           "auto_renew_product_id":"com.example.app.pro.monthly","auto_renew_status":"1","expiration_intent":"2",
           "is_in_billing_retry_period":"1","grace_period_expires_date_ms":"1797000000000",
           "price_consent_status":"1","promotional_offer_id":"next_offer"}]}
        """
}
