import Foundation
import OfferCore
import OfferCrypto
import OfferEligibility
import OfferHTTP
import StoreTestSupport
import SubscriberStore
import TestSupport
import Testing

@testable import AppStoreTestSupport

/// A customer of the App Store, the service, and what passes between them: notifications, decisions and purchases.
final class Story {
    let service: StoreService
    var customer: PlayedCustomer
    private let number: UInt64
    private let isAnonymous: Bool
    private var usedNonces: Set<String> = []

    static let offers = """
        {offerID: back, rule: win_back, priority: 30, limits: {perCustomer: {count: 1, every: 365d}}},
        {offerID: keep, rule: retention, priority: 20, limits: {perCustomer: 1}},
        {offerID: up, rule: upgrade, priority: 10}, {offerID: sorry, rule: customer_service, limits: {perCustomer: 1}},
        {offerID: loyal, rule: loyalty}, {offerID: stay, rule: save}
        """

    init(_ number: UInt64 = 1, isAnonymous: Bool = false, service: StoreService? = nil) throws {
        self.service = try service ?? StoreService(Self.offers)
        self.number = number
        self.isAnonymous = isAnonymous
        customer = PlayedCustomer(
            Int(number), account: isAnonymous ? nil : Sample.token(number).description,
            chain: try TestChain.standard.get())
    }

    /// Lets the customer do something on a day, and has the App Store post it.
    func on(_ day: Double, _ act: (inout PlayedCustomer, Int64) throws -> String) async throws {
        service.setDay(day)
        let payload = try act(&customer, Sample.day(day).milliseconds)
        let response = await service.routes.postLater(
            "/v1/app-store-notifications", #"{"signedPayload":"\#(payload)"}"#)
        #expect(response.status == 200, "\(response.text)")
    }

    /// The app asks on a day.
    /// - Parameter hasProofs: whether it sends what the device has.
    func ask(
        on day: Double, hasProofs: Bool = false, sign: String = "\"best\"", token: String? = nil
    ) async throws -> StoreService.Decision {
        service.setDay(day)
        var members = isAnonymous ? #""applicationUsername":"""# : StoreService.token(number)
        members += #","sign":\#(sign)"#
        if hasProofs {
            let proofs = try customer.proofs(at: Sample.day(day).milliseconds)
            let transactions = proofs.transactions.map { "\"\($0)\"" }.joined(separator: ",")
            members +=
                #","proofs":{"signedTransactions":[\#(transactions)],"signedRenewalInfos":["\#(proofs.renewalInfo)"]}"#
        }
        let decision = try await service.decide(members, token: token)
        #expect(decision.response.status == 200, "\(decision.response.text)")
        return decision
    }

    /// What the App Store does when the customer buys: the signature must be right, not expired, and not used before.
    func requireValid(_ decision: StoreService.Decision, _ offerID: String, on day: Double) throws {
        let offer = try #require(decision.offers.first { $0["offerID"] as? String == offerID })
        if let jws = offer["compactJWS"] as? String { try requireValid(jws, offerID, on: day) }
        guard let signed = offer["signature"] as? [String: Any] else {
            try #require(offer["compactJWS"] != nil, "\(decision.response.text)")
            return
        }
        let nonce = try Nonce(utf8: Array(try #require(signed["nonce"] as? String).utf8))
        let timestamp = Timestamp(milliseconds: Int64(try #require(signed["timestamp"] as? Int)))
        let customer: Customer =
            isAnonymous ? try Customer(applicationUsername: []) : .appAccountToken(Sample.token(number))
        let payload = OfferPayload(
            appBundleID: Sample.bundleID, keyID: try KeyID(utf8: Array((signed["keyID"] as? String ?? "").utf8)),
            productIdentifier: try ProductID(utf8: Array("monthly".utf8)),
            offerID: try OfferID(utf8: Array(offerID.utf8)), customer: customer, nonce: nonce, timestamp: timestamp)
        let der = try #require(Data(base64Encoded: signed["signature"] as? String ?? ""))
        #expect(try service.pair.verifyingKey.verify([UInt8](der), of: payload.bytes))
        #expect(Sample.day(day).milliseconds - timestamp.milliseconds < 86_400_000)
        #expect(usedNonces.insert("\(nonce)").inserted)
    }

    /// The JWS must be for the offer and bound to the customer's own subscription.
    private func requireValid(_ jws: String, _ offerID: String, on day: Double) throws {
        let claims = try #require(Base64URL.json(jws.split(separator: ".")[1]))
        #expect(claims["offerIdentifier"] as? String == offerID && claims["productId"] as? String == "monthly")
        #expect(claims["transactionId"] as? String != nil)
        #expect(Sample.day(day).milliseconds / 1000 - Int64(claims["iat"] as? Int ?? 0) < 86_400)
        #expect(usedNonces.insert(claims["nonce"] as? String ?? "").inserted)
    }

    /// The states of the customer's authorisations, the oldest first.
    func states() async throws -> [Authorisation.State] {
        let holders: [CustomerIdentifier] =
            [.originalTransactionID(Sample.id(customer.originalTransactionID))]
            + (isAnonymous ? [] : [Sample.account(number)])
        return try await service.authorisations(of: holders).map(\.state)
    }

    func setFact(_ name: String, _ json: String, token: String? = nil) async {
        let members = #"\#(StoreService.token(number)),"environment":"Production","facts":{"\#(name)":\#(json)}"#
        let response = await service.send("PUT", "/v1/customers/facts", members, token: token)
        #expect(response.status == 204, "\(response.text)")
    }

    /// The redemptions that a look-up shows, with whether each is authorised.
    func redemptions() async throws -> [String: Bool] {
        let response = await service.post("/v1/customers/lookup", StoreService.token(number))
        let customers = response.json["customers"] as? [[String: Any]] ?? []
        let found = customers.flatMap { $0["redemptions"] as? [[String: Any]] ?? [] }
        return Dictionary(
            uniqueKeysWithValues: found.map { ($0["offerID"] as? String ?? "", $0["authorised"] as? Bool ?? false) })
    }
}
