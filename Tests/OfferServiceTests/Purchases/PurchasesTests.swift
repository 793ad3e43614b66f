import Foundation
import OfferCore
import OfferEligibility
import OfferHTTP
import OfferService
import StoreTestSupport
import SubscriberStore
import TestSupport
import Testing

@testable import AppStoreTestSupport

@Suite("Purchases that an app shows")
struct PurchasesTests {
    private typealias Proofs = DecisionProofTests

    private static func send(
        _ service: StoreService, _ members: String, token: String? = nil
    ) async -> HTTPResponse { await service.post("/v1/purchases", members, token: token) }

    private static func stored(_ service: StoreService, _ original: String = "1000") async throws -> [SubscriberFact] {
        try await service.store.customers(
            known: .originalTransactionID(Sample.id(original)), bundleID: Sample.bundleID, environment: nil
        ).first?.facts ?? []
    }

    @Test("they are stored and summed up, and the app may finish what is durable; a decision then needs no proofs")
    func stored() async throws {
        let service = try StoreService("{offerID: keep, rule: retention}")
        let proofs = try Proofs.proofs([Proofs.transaction(account: 1)], [Proofs.renewal(account: 1)])
        let answer = await Self.send(service, StoreService.token() + "," + proofs)
        let end = Sample.day(30).milliseconds
        #expect(
            answer.text == #"""
                {"environment":"Production","state":"active","subscriptions":[{"originalTransactionID":"1000","productID":"monthly","status":"active","autoRenews":false,"expiresAt":\#(end)}],"transactions":[{"transactionID":"1000","productID":"monthly","finish":true}]}
                """#)
        #expect(try await Self.stored(service).count == 2)
        #expect(try await service.decide().eligible == ["keep"])
        // The same again changes nothing, and the app may still finish it.
        let again = await Self.send(service, StoreService.token() + "," + proofs)
        #expect(again.text == answer.text)
        #expect(try await Self.stored(service).count == 2)
        #expect(try await service.authorisations().allSatisfy { $0.productID.text.description == "monthly" })
        #expect((await Self.send(service, StoreService.token())).status == 400)
        let scrape = service.routes.scrape()
        let counts = ["stored", "not_stored", "refused"].map {
            scrape[#"offer_signer_purchases_total{outcome="\#($0)"}"#]
        }
        #expect(counts == [2, 0, 1])
    }

    @Test(
        "what the database has not taken must not be finished: without it, and with one that fails, the answer is 503")
    func notDurable() async throws {
        let proofs = try Proofs.proofs()
        let closed = try StoreService("{offerID: keep, rule: retention}")
        try closed.store.close()
        let without = try StoreService(
            catalogue: StoreService("{offerID: keep, rule: retention}").catalogue, isOpen: false)
        for service in [closed, without] {
            let answer = await Self.send(service, StoreService.token() + "," + proofs)
            #expect(answer.status == 503 && !answer.text.contains("finish"), "\(answer.text)")
        }
    }

    @Test("a transaction that is signed in the future is not stored, and the app must not finish it")
    func future() async throws {
        let service = try StoreService("{offerID: keep, rule: retention}")
        let later = Proofs.transaction().with("signedDate", "\(Sample.day(12).milliseconds)")
        // A renewal info of the same subscription is stored, and must not count for the transaction.
        let answer = await Self.send(service, StoreService.token() + "," + (try Proofs.proofs([later])))
        #expect(
            answer.status == 200
                && answer.text.contains(#""transactionID":"1000","productID":"monthly","finish":false"#))
        let kinds = try await Self.stored(service).map(\.key.kind)
        #expect(!kinds.isEmpty && !kinds.contains(.transaction), "\(kinds)")
    }

    @Test("purchases of another customer are refused, and nothing of them is stored")
    func another() async throws {
        let service = try StoreService("{offerID: keep, rule: retention}")
        try await service.addSubscriber("5000", account: 3) { $0.appTransactionID = Sample.id("703") }
        let theirs = try Proofs.proofs([Proofs.transaction("6000", account: 3)], [])
        let named = await Self.send(service, StoreService.token(1) + "," + theirs)
        #expect(named.status == 422 && named.json["code"] as? String == "another_customers_proof")
        let ofFriend = try Proofs.proofs([Proofs.transaction("7000", appleAccount: "709")], [])
        let known = await Self.send(service, StoreService.token(3) + "," + ofFriend)
        #expect(known.json["code"] as? String == "another_customers_proof")
        let two = try Proofs.proofs([Proofs.transaction("8000"), Proofs.transaction("8001", appleAccount: "701")], [])
        let mixed = await Self.send(service, StoreService.token(1) + "," + two)
        #expect(mixed.json["code"] as? String == "proof_refused")
        for original in ["6000", "7000", "8000", "8001"] {
            #expect(try await Self.stored(service, original).isEmpty, "\(original)")
        }
    }

    @Test("a receipt is stored whole, and an AppTransaction alone stores nothing")
    func receipt() async throws {
        let service = try StoreService("{offerID: keep, rule: retention}")
        var purchase = TestReceipt.Purchase(transactionID: "1000")
        purchase.put(.text(1705, "1000"))
        let text = try ReceiptSigner.base64(TestReceipt(purchases: [purchase]))
        let answer = await Self.send(service, StoreService.token() + #","proofs":{"appReceipt":"\#(text)"}"#)
        #expect(answer.status == 200, "\(answer.text)")
        #expect(answer.json["appReceipt"] as? [String: Int] == ["purchases": 1, "finish": 1], "\(answer.text)")
        let all = try await service.store.customers(
            known: .originalTransactionID(Sample.id("1000")), bundleID: Sample.bundleID, environment: nil)
        #expect(all.flatMap(\.facts).count == 1)
        let download = SamplePayload.appTransaction.with("receiptType", #""Production""#)
        let alone = await Self.send(
            service, StoreService.token(2) + #","proofs":{"signedAppTransaction":\#(try Proofs.jws(download))}"#)
        #expect(alone.status == 200 && alone.text.hasSuffix(#""subscriptions":[],"transactions":[]}"#), "\(alone.text)")
    }

    @Test("a request without proofs, with a forged one, or for another app is refused as everywhere")
    func refused() async throws {
        let service = try StoreService("{offerID: keep, rule: retention}")
        let jws = try Proofs.jws(Proofs.transaction())
        let forged = jws.replacing("eyJ", with: "eyK", maxReplacements: 1)
        for (members, status, code) in [
            (StoreService.token(), 400, "missing_field"),
            (#""proofs":{"signedTransactions":[\#(jws)]}"#, 400, "missing_field"),
            (StoreService.token() + #","proofs":{"signedTransactions":[\#(forged)]}"#, 422, "proof_refused"),
            (StoreService.token() + #","proofs":{"signedTransactions":[]}"#, 400, "invalid_field"),
            (StoreService.token() + #","sign":true,"proofs":{"signedTransactions":[\#(jws)]}"#, 400, "unknown_field"),
            (
                StoreService.token() + #","environment":"Sandbox","proofs":{"signedTransactions":[\#(jws)]}"#, 422,
                "proof_refused"
            ),
        ] {
            let answer = await Self.send(service, members)
            #expect(
                answer.status == status && answer.json["code"] as? String == code,
                "\(members.prefix(90)) \(answer.text)")
        }
        let other = await service.send(
            "POST", "/v1/purchases", StoreService.token() + #","proofs":{"signedTransactions":[\#(jws)]}"#, app: "other"
        )
        #expect(other.status == 403)
        #expect(try await Self.stored(service).isEmpty)
    }

    @Test("a caller needs the scope sign, and the answers match the contract")
    func contract() async throws {
        let token = "ost_0123456789abcdef"
        let proofs = try Proofs.proofs()
        for scope in Caller.Scope.allCases {
            let service = try StoreService(
                "{offerID: keep, rule: retention}", callers: [Caller.test("app", [scope], token: token)])
            let answer = await Self.send(service, StoreService.token() + "," + proofs, token: token)
            #expect(answer.status == (scope == .sign ? 200 : 403))
            guard scope == .sign else { continue }
            let schema = JSONSchema(document: try TestService().get("/openapi.json").json)
            let ofAnswer = try #require(schema.resolve("#/components/schemas/Purchases"))
            #expect(schema.faults(of: answer.json, against: ofAnswer) == [])
            let repeated = await Self.send(
                service, StoreService.token() + #","verifiedProofs":true,"# + proofs, token: token)
            #expect(schema.faults(of: repeated.json, against: ofAnswer) == [] && repeated.json["verifiedProofs"] != nil)
        }
    }
}
