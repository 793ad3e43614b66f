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
    private static let transaction = SamplePayload.transaction.with("environment", #""Sandbox""#)
    private static let renewalInfo = SamplePayload.renewalInfo.with("environment", #""Sandbox""#)
    private static let appTransaction = SamplePayload.appTransaction.with("receiptType", #""Sandbox""#)

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
        for (count, status) in [(250, 200), (251, 422)] {
            let purchases = (0..<count).map { number in
                var purchase = TestReceipt.Purchase(transactionID: "\(1000 + number)")
                purchase.put(.text(1705, "\(1000 + number)"))
                return purchase
            }
            let text = try ReceiptSigner.base64(TestReceipt(purchases: purchases))
            let response = try await Self.answer("{\"appReceipt\":\"\(text)\"}")
            #expect(response.status == status, "\(response.text)")
            if status == 422 {
                try Self.expect(response, 422, "proof_refused", field: "proofs", reason: "too_many_purchases")
            }
        }
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
    func misplacedProofs() async throws {
        func base64(_ bytes: [UInt8]) -> String { String(decoding: Base64.text(of: bytes), as: UTF8.self) }
        let receipt = try ReceiptSigner.standard.get().message(TestReceipt(purchases: [.init()])).encoded
        let once = base64(receipt)
        let twice = base64(Array(once.utf8))
        let url = base64(receipt + [0xFB, 0xEF, 0xBE]).replacing("+", with: "-").replacing("/", with: "_").replacing(
            "=", with: "")
        let transaction = try Self.jws(Self.transaction)
        let encodedJWS = base64(Array(transaction.dropFirst().dropLast().utf8))
        let verifyReceipt = #"{\"status\":0,\"latest_receipt\":\"MII=\"}"#
        let cases: [(member: String, value: String, advice: String)] = [
            ("appReceipt", transaction, "Send it in proofs.signedTransactions."),
            ("appReceipt", try Self.jws(Self.renewalInfo), "Send it in proofs.signedRenewalInfos."),
            ("appReceipt", try Self.jws(Self.appTransaction), "Send it as proofs.signedAppTransaction."),
            ("appReceipt", try Self.jws(.notification("TEST", .data)), "the signedPayload of a notification"),
            ("appReceipt", "\"\(encodedJWS)\"", "a JWS in base64"),
            ("appReceipt", "\"\(twice)\"", "in base64 twice"),
            ("appReceipt", "\"\(url)\"", "base64url"),
            ("appReceipt", "\"\(once)\\n\"", "line breaks"),
            ("appReceipt", "\"\(verifyReceipt)\"", "JSON response of verifyReceipt"),
            ("signedTransactions", "\"\(verifyReceipt)\"", "JSON response of verifyReceipt"),
            ("signedTransactions", "\"\(once)\"", "Send it as proofs.appReceipt."),
            ("signedTransactions", "\"\(encodedJWS)\"", "Send the JWS itself."),
            ("signedRenewalInfos", "\"\(twice)\"", "Send it as proofs.appReceipt."),
            ("signedAppTransaction", "\"\(once)\"", "Send it as proofs.appReceipt."),
        ]
        let service = try Self.service()
        for (member, value, advice) in cases {
            let isList = member.hasSuffix("s")
            let proofs = "{\"\(member)\":\(isList ? "[\(value)]" : value)}"
            let answer = try await Self.answer(proofs, from: service)
            try Self.expect(answer, 400, "invalid_field", field: "proofs.\(member)\(isList ? "[0]" : "")")
            #expect(answer.text.contains(advice), "\(answer.text)")
        }
    }

    @Test("a JWS of another kind is refused with the member for its kind")
    func otherKinds() async throws {
        let renewalInfo = try Self.jws(Self.renewalInfo)
        let transaction = try Self.jws(Self.transaction)
        let appTransaction = try Self.jws(Self.appTransaction)
        let notification = try Self.jws(.notification("TEST", .data))
        let cases: [(proofs: String, advice: String)] = [
            ("{\"signedTransactions\":[\(renewalInfo)]}", "Send it in proofs.signedRenewalInfos."),
            ("{\"signedTransactions\":[\(appTransaction)]}", "Send it as proofs.signedAppTransaction."),
            ("{\"signedTransactions\":[\(notification)]}", "Send its data.signedTransactionInfo"),
            ("{\"signedRenewalInfos\":[\(transaction)]}", "Send it in proofs.signedTransactions."),
            ("{\"signedAppTransaction\":\(notification)}", "Send its data.signedTransactionInfo"),
        ]
        let service = try Self.service()
        for (proofs, advice) in cases {
            let answer = try await Self.answer(proofs, from: service)
            #expect(answer.status == 422 && answer.text.contains(advice), "\(answer.text)")
        }
    }

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
        let good = try Self.jws(Self.transaction)
        let forged = good.dropLast(10) + "AAAAAAAAA\""
        let cases: [(proofs: String, field: String, reason: String)] = [
            (#"{"signedTransactions":[\#(good),\#(forged)]}"#, "signedTransactions[1]", "signature_invalid"),
            (#"{"signedTransactions":["a.b"]}"#, "signedTransactions[0]", "jws_not_three_parts"),
            (
                #"{"signedTransactions":[\#(try Self.jws(Self.renewalInfo))]}"#, "signedTransactions[0]",
                "payload_of_another_kind"
            ),
            (#"{"signedRenewalInfos":[\#(good)]}"#, "signedRenewalInfos[0]", "payload_of_another_kind"),
            (
                #"{"signedTransactions":[\#(try Self.jws(Self.transaction.with("bundleId", #""com.example.other""#)))]}"#,
                "signedTransactions[0]", "another_bundle_id"
            ),
            (
                #"{"signedTransactions":[\#(try Self.jws(.transaction))]}"#, "signedTransactions[0]",
                "environment_not_accepted"
            ),
            (#"{"signedAppTransaction":\#(good)}"#, "signedAppTransaction", "payload_of_another_kind"),
            (#"{"appReceipt":"MAA="}"#, "appReceipt", "receipt_not_signed_data"),
        ]
        let service = try Self.service()
        for (proofs, field, reason) in cases {
            let answer = try await Self.answer(proofs, from: service)
            try Self.expect(answer, 422, "proof_refused", field: "proofs.\(field)", reason: reason)
            #expect(!answer.text.contains("signature\""))
        }
        let scrape = service.scrape()
        #expect(scrape.sum(of: "offer_signer_signatures_total") == 0)
        #expect(scrape.sum(of: "offer_signer_app_store_refusals_total") == Double(cases.count))
        #expect(scrape[#"offer_signer_app_store_refusals_total{check="payload_of_another_kind"}"#] == 3)
        #expect(scrape[#"offer_signer_requests_total{route="/v1/promotional-offers",status="422"}"#] == 8)
    }

    @Test("a receipt of another app or another device is refused")
    func badReceipts() async throws {
        var other = TestReceipt()
        other.put(.text(2, "com.example.other"))
        func proofs(_ receipt: TestReceipt, _ device: String) throws -> String {
            #"{"appReceipt":"\#(try ReceiptSigner.base64(receipt))"\#(device)}"#
        }
        try Self.expect(
            await Self.answer(proofs(other, "")), 422, "proof_refused", field: "proofs.appReceipt",
            reason: "another_bundle_id")
        let device = #","deviceIdentifier":"00112233445566778899aabbccddeeff""#
        try Self.expect(
            await Self.answer(proofs(TestReceipt(), device)), 422, "proof_refused", field: "proofs.appReceipt",
            reason: "receipt_another_device")
    }

    @Test("a renewal info needs a transaction of its subscription, because it names no app")
    func renewalInfoAlone() async throws {
        let info = try Self.jws(Self.renewalInfo)
        let other = try Self.jws(Self.transaction.with("originalTransactionId", #""1""#))
        for transactions in ["", other] {
            try Self.expect(
                await Self.answer(
                    #"{"signedTransactions":[\#(transactions)],"signedRenewalInfos":[\#(info)]}"#), 422,
                "proof_refused", field: "proofs.signedRenewalInfos[0]", reason: "transaction_missing")
        }
    }

    @Test("for an app that is not served, no proof is verified")
    func anotherApp() async throws {
        let service = try Self.service(catalogue: Catalogue(apps: [:]))
        let answer = try await Self.answer(#"{"signedTransactions":["forged"]}"#, from: service)
        #expect(answer.status == 403 && answer.text.contains("offer_not_served"), "\(answer.text)")
    }

    @Test("a small body with many values is refused, because each takes far more memory than its text")
    func manyValues() async throws {
        let rows = Array(repeating: "[\(Array(repeating: "{}", count: 64).joined(separator: ","))]", count: 64)
        let answer = try await Self.answer(#"{"signedTransactions":["a"],"more":[\#(rows.joined(separator: ","))]}"#)
        #expect(answer.status == 400 && answer.text.contains("too many members or elements"), "\(answer.text)")
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

    @Test(
        "proofs of the wrong form get 400 with the field at fault",
        arguments: [
            ("[]", "wrong_type", "proofs"),
            ("{}", "invalid_field", "proofs"),
            (#"{"signedTransactions":[]}"#, "invalid_field", "proofs"),
            (#"{"signedTransactions":"a.b.c"}"#, "wrong_type", "proofs.signedTransactions"),
            (#"{"signedTransactions":["a.b.c",1]}"#, "wrong_type", "proofs.signedTransactions[1]"),
            (#"{"signedTransactions":["a.b.c"],"more":1}"#, "unknown_field", "more"),
            (#"{"appReceipt":"AA"}"#, "invalid_field", "proofs.appReceipt"),
            (#"{"appReceipt":"AAAA","deviceIdentifier":"x"}"#, "invalid_field", "proofs.deviceIdentifier"),
            (
                #"{"signedTransactions":["a.b.c"],"deviceIdentifier":"001122334455"}"#, "missing_field",
                "proofs.appReceipt"
            ),
            (
                #"{"signedTransactions":[\#(Array(repeating: "\"a\"", count: 51).joined(separator: ","))]}"#,
                "invalid_field", "proofs"
            ),
        ])
    func wrongForm(proofs: String, code: String, field: String) async throws {
        try Self.expect(await Self.answer(proofs), 400, code, field: field)
    }

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
