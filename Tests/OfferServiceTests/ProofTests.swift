import AppStoreData
import Foundation
import OfferCore
import OfferCrypto
import OfferEligibility
import OfferHTTP
import OfferService
import TestSupport
import Testing

@testable import AppStoreTestSupport
@testable import OfferConfiguration

@Suite("Proofs")
struct ProofTests {
    private static let transaction = RefusedProof.transaction
    private static let renewalInfo = RefusedProof.renewalInfo
    private static let appTransaction = RefusedProof.appTransaction

    private static func service(catalogue: Catalogue? = nil) throws -> TestService {
        try TestService(catalogue: catalogue, appStore: .trusting(TestChain.standard.get()))
    }

    private static func jws(_ payload: SamplePayload) throws -> String {
        "\"\(try TestChain.standard.get().jws(payload))\""
    }

    private static func body(_ proofs: String, more: String = "") -> String {
        """
        {"bundleID":"com.example.app","productID":"p","offerID":"o","applicationUsername":"u"\(more),"proofs":\(proofs)}
        """
    }

    private static func answer(
        _ proofs: String, more: String = "", from service: TestService? = nil
    ) async throws -> HTTPResponse {
        let service = try service ?? Self.service()
        return await service.postLater("/v1/promotional-offers", body(proofs, more: more))
    }

    /// Expects that each of these proofs is refused with its answer, and that nothing is signed.
    private static func expectRefusals(_ proofs: [RefusedProof], from service: TestService? = nil) async throws {
        let service = try service ?? Self.service()
        for proof in proofs {
            proof.expectRefusal(try await answer(proof.proofs, from: service))
        }
        #expect(service.scrape().sum(of: "offer_signer_signatures_total") == 0)
    }

    private static func expect(
        _ response: HTTPResponse, _ status: Int, _ code: String, field: String, reason: String? = nil,
        at location: SourceLocation = #_sourceLocation
    ) throws {
        #expect(response.status == status, sourceLocation: location)
        #expect(response.json["code"] as? String == code, sourceLocation: location)
        #expect(response.json["field"] as? String == field, sourceLocation: location)
        #expect(response.json["reason"] as? String == reason, sourceLocation: location)
    }

    @Test("proofs of more purchases than a customer has are refused")
    func tooMany() async throws {
        #expect(try await Self.answer(RefusedProof.receipt(purchases: 250)).status == 200)
        try await Self.expectRefusals(RefusedProof.tooMany())
    }

    @Test("proofs of every kind are verified, and an offer is signed as without them")
    func allKinds() async throws {
        let receipt = try ReceiptSigner.base64(TestReceipt(purchases: [.init()]))
        let device = Hexadecimal.text(of: TestReceipt.device)
        let proofs = """
            {"signedTransactions":[\(try Self.jws(Self.transaction)),\(try Self.jws(Self.transaction))],\
            "signedRenewalInfos":[\(try Self.jws(Self.renewalInfo))],\
            "signedAppTransaction":\(try Self.jws(Self.appTransaction)),\
            "appReceipt":"\(receipt)","deviceIdentifier":"\(device)"}
            """
        let service = try Self.service()
        let plain = try await Self.answer(proofs, from: service)
        #expect(plain.status == 200, "\(plain.text)")
        #expect(!plain.text.contains("verifiedProofs"))
        let detailed = try await Self.answer(proofs, more: #","verifiedProofs":true"#, from: service)
        let verified = try #require(detailed.json["verifiedProofs"] as? [String: Any])
        let transactions = try #require(verified["signedTransactions"] as? [[String: Any]])
        #expect(transactions.count == 2)
        #expect(transactions[0]["transactionId"] as? String == "2000000987654321")
        #expect((verified["signedRenewalInfos"] as? [Any])?.count == 1)
        #expect((verified["signedAppTransaction"] as? [String: Any])?["receiptType"] as? String == "Sandbox")
        #expect((verified["appReceipt"] as? [String: Any])?["purchases"] as? Int == 1)
        #expect(detailed.json["signature"] != nil)
        let scrape = service.scrape()
        #expect(scrape[#"offer_signer_app_store_data_total{data="transaction",outcome="verified"}"#] == 4)
        #expect(scrape[#"offer_signer_app_store_data_total{data="receipt",outcome="verified"}"#] == 2)
        #expect(scrape[#"offer_signer_signatures_total{kind="promotional_offer",app="other",key="TESTKEY123"}"#] == 2)
    }

    @Test("data in the wrong member or encoding is refused with the place where it belongs")
    func misplacedProofs() async throws { try await Self.expectRefusals(RefusedProof.misplaced()) }

    @Test("a JWS of another kind is refused with the member for its kind")
    func otherKinds() async throws { try await Self.expectRefusals(RefusedProof.otherKinds()) }

    @Test("an empty appAccountToken is refused with the member to send instead")
    func emptyAccountToken() async throws {
        let service = try Self.service()
        let body = #"{"bundleID":"com.example.app","productID":"p","offerID":"o","appAccountToken":""}"#
        let answer = await service.postLater("/v1/promotional-offers", body)
        try Self.expect(answer, 400, "invalid_field", field: "appAccountToken")
        #expect(answer.text.contains(#"send \"applicationUsername\": \"\" instead"#), "\(answer.text)")
    }

    @Test("a list of offers shares its proofs, which must be of the only app")
    func list() async throws {
        let service = try Self.service()
        let offer = #"{"bundleID":"com.example.app","productID":"p","offerID":"o","applicationUsername":"u"}"#
        let proofs = #"{"signedTransactions":[\#(try Self.jws(Self.transaction))]}"#
        let path = "/v1/promotional-offers"
        let good = await service.postLater(
            path, #"{"offers":[\#(offer),\#(offer)],"proofs":\#(proofs),"verifiedProofs":true}"#)
        #expect(good.status == 200)
        #expect(good.text.contains(#""verifiedProofs":{"signedTransactions":[{"transactionId""#))
        let other = offer.replacing("com.example.app", with: "com.example.other")
        let bad = await service.postLater(path, #"{"offers":[\#(offer),\#(other)],"proofs":\#(proofs)}"#)
        try Self.expect(bad, 400, "invalid_field", field: "offers")
        let mixed = await service.postLater(
            path, #"{"offers":[null,\#(offer)],"proofs":\#(proofs),"verifiedProofs":true}"#)
        #expect(mixed.status == 200 && mixed.text.contains(#""verifiedProofs":{"#))
        #expect(mixed.text.contains(#""code":"wrong_type","field":"offers[0]""#))
        let none = await service.postLater(path, #"{"offers":[null],"proofs":\#(proofs),"verifiedProofs":true}"#)
        try Self.expect(none, 422, "proof_refused", field: "proofs", reason: "no_app")
        let inside = offer.replacing("}", with: #","proofs":\#(proofs)}"#)
        let nested = await service.postLater(path, #"{"offers":[\#(inside)]}"#)
        #expect(nested.text.contains(#""code":"unknown_field","field":"proofs""#))
    }

    @Test("a bad proof gets 422 with its place and the failed check, and nothing is signed")
    func badProofs() async throws {
        let (cases, service) = (try RefusedProof.bad(), try Self.service())
        try await Self.expectRefusals(cases, from: service)
        let scrape = service.scrape()
        #expect(scrape.sum(of: "offer_signer_app_store_refusals_total") == Double(cases.count))
        #expect(scrape[#"offer_signer_app_store_refusals_total{check="payload_of_another_kind"}"#] == 3)
        #expect(
            scrape[#"offer_signer_requests_total{route="/v1/promotional-offers",status="422"}"#] == Double(cases.count))
    }

    @Test("a receipt of another app or another device is refused")
    func badReceipts() async throws { try await Self.expectRefusals(RefusedProof.receipts()) }

    @Test("a renewal info needs a transaction of its subscription, because it names no app")
    func renewalInfoAlone() async throws { try await Self.expectRefusals(RefusedProof.renewalInfosAlone()) }

    @Test("for an app that is not served, no proof is verified")
    func anotherApp() async throws {
        let service = try Self.service(catalogue: Catalogue(apps: [:]))
        let answer = try await Self.answer(#"{"signedTransactions":["forged"]}"#, from: service)
        #expect(answer.status == 403 && answer.text.contains("offer_not_served"), "\(answer.text)")
    }

    @Test("proofs of two environments are refused together")
    func environments() async throws {
        let app = Catalogue.App(
            appAppleID: 1_234_567_890,
            offers: [try ProductID(utf8: Array("p".utf8)): [try OfferID(utf8: Array("o".utf8))]])
        let catalogue = Catalogue(apps: [try BundleID(utf8: Array("com.example.app".utf8)): app])
        let service = try Self.service(catalogue: catalogue)
        let (sandbox, production) = (try Self.jws(Self.transaction), try Self.jws(.transaction))
        for one in [sandbox, production] {
            #expect(try await Self.answer(#"{"signedTransactions":[\#(one)]}"#, from: service).status == 200)
        }
        let mixed = try await Self.answer(#"{"signedTransactions":[\#(sandbox),\#(production)]}"#, from: service)
        try Self.expect(mixed, 422, "proof_refused", field: "proofs", reason: "several_environments")
    }

    @Test("proofs of the wrong form get 400 with the field at fault")
    func wrongForm() async throws { try await Self.expectRefusals(RefusedProof.wrongForm()) }

    @Test("the response cannot repeat proofs that were not sent")
    func withoutProofs() throws {
        let body = #"{"bundleID":"a","productID":"p","offerID":"o","applicationUsername":"u","verifiedProofs":true}"#
        try Self.expect(
            Self.service().post("/v1/promotional-offers", body), 400, "missing_field", field: "proofs")
        #expect(
            try Self.service().post("/v1/promotional-offers", body.replacing("true", with: "false")).status == 200)
        try Self.expect(
            Self.service().post("/v1/promotional-offers", body.replacing("true", with: "1")), 400, "wrong_type",
            field: "verifiedProofs")
    }

    @Test("only the routes that accept App Store data read large bodies")
    func sizes() throws {
        let router = try Self.service().router
        let large = [
            "/v1/promotional-offers", "/v1/app-store-notifications", "/v1/decisions", "/v1/introductory-offers",
            "/v1/purchases",
        ]
        for path in large { #expect(router.maximumBodySize(of: path) == 1024 * 1024) }
        for path in router.paths where !large.contains(path) {
            #expect(router.maximumBodySize(of: path) == HTTPRequest.maximumBodySize)
        }
        #expect(router.maximumBodySize(of: "/unknown") == HTTPRequest.maximumBodySize)
    }
}
