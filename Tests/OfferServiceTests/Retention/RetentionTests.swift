import AppStoreData
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
@testable import OfferService

@Suite("Retention messages")
struct RetentionTests {
    typealias Request = Retention.Request

    // MARK: Forms of the answer

    @Test("a message is the one member of its answer, byte for byte")
    func message() async throws {
        let service = try StoreService.retention()
        try await service.addSubscriber()
        let response = try await service.message()
        #expect(response.status == 200 && response.mediaType == .json)
        #expect(response.text == #"{"message":{"messageIdentifier":"00000005-0000-4000-8000-000000000000"}}"#)
        let german = try await service.message(Request(2).with("userLocale", #""de_DE""#))
        #expect(german.text == Retention.shown(3))
    }

    @Test(
        "a customer gets the message in their script",
        arguments: [
            ("zh-CN", 1), ("zh-SG", 1), ("zh_CN", 1), ("zh-Hans-CN", 1), ("zh-TW", 2), ("zh-HK", 2), ("zh-MO", 2),
            ("zh_TW", 2), ("zh-Hant-HK", 2), ("es-MX", 3), ("es-ES", 5), ("nb-NO", 4), ("de-DE", 5),
        ] as [(String, Int)])
    func script(locale: String, expected: Int) async throws {
        let ids = (1...5).map { Retention.message($0) }
        let service = try StoreService.retention(
            "- message: {zh-Hans: \(ids[0]), zh_Hant: \(ids[1]), es-419: \(ids[2]), no: \(ids[3]), default: \(ids[4])}")
        try await service.addSubscriber()
        let response = try await service.message(Request().with("userLocale", "\"\(locale)\""))
        #expect(response.text == Retention.shown(expected))
    }

    @Test("another product is offered to whom a rule holds for, with its billing plan, byte for byte")
    func alternateProduct() async throws {
        let service = try StoreService.retention()
        try await service.addSubscriber()
        try await setEpisodes(2, service)
        let message = Retention.message(2)
        #expect(
            try await service.message().text
                == #"{"alternateProduct":{"messageIdentifier":"\#(message)","productId":"basic"}}"#)
        let planned = try StoreService.retention(
            "- alternateProduct: {productID: basic, billingPlanType: BILLED_UPFRONT, message: \(message)}")
        try await planned.addSubscriber()
        #expect(
            try await planned.message().text
                == #"{"alternateProduct":{"messageIdentifier":"\#(message)","productId":"basic","billingPlanType":"BILLED_UPFRONT"}}"#
        )
    }

    @Test("the current product is never offered as another one, and neither is one of another group")
    func currentProduct() async throws {
        let service = try StoreService.retention()
        try await service.addSubscriber { $0 = Self.purchase("basic", like: $0) }
        try await setEpisodes(2, service)
        #expect(try await service.message(Request().with("productId", #""basic""#)).text == Retention.shown(5))
        #expect(
            try await service.message(Request(2).with("productId", #""monthly""#)).text.contains("alternateProduct"))
        let foreign = Request(3).with("productId", #""of.another.group""#)
        #expect(try await service.message(foreign).text == Retention.shown(5))
    }

    @Test("a case for storefronts answers only customers whose latest purchase is from one of them")
    func storefront() async throws {
        for (storefront, expected) in [("DEU", 1), ("USA", 2), (nil, 2)] as [(String?, Int)] {
            let service = try StoreService.retention(
                """
                - rule: {storefront: [FRA, DEU]}
                  message: \(Retention.message(1))
                - message: \(Retention.message(2))
                """)
            try await service.addSubscriber { $0.storefront = storefront }
            #expect(try await service.message().text == Retention.shown(expected), "\(storefront ?? "none")")
        }
    }

    @Test("in a commitment, its own auto-renew status is the customer's choice")
    func commitment() async throws {
        for (choice, offers) in [(AutoRenewStatus.off, true), (.on, false)] {
            let service = try StoreService.retention()
            try await service.addSubscriber {
                $0.commitment = Commitment(billingPeriodNumber: 3, totalBillingPeriods: 12)
            }
            // The next bill comes in any case.
            let renewal = Sample.renewal(of: "1000", signed: 2) {
                $0.appAccountToken = Sample.token(1)
                $0.commitment = CommitmentRenewal(autoRenewProductID: $0.productID, autoRenewStatus: choice)
            }
            try await service.store.merge([renewal], in: Sample.production)
            let answer = try await service.message().text
            #expect(answer.contains("promotionalOffer") == offers, "\(answer)")
        }
    }

    @Test("an offer has a JWS that is bound to the subscription of the request")
    func version2() async throws {
        let service = try StoreService.retention()
        // A renewal: the current transaction is another one than the original.
        try await service.addSubscriber(autoRenew: false, signed: 6)
        try await service.store.merge(
            [Sample.transaction("1001", of: "1000", 5, 35) { $0.appAccountToken = Sample.token(1) }],
            in: Sample.production)
        let response = try await service.message()
        let claims = try #require(response.offerClaims, "\(response.text)")
        #expect(claims["transactionId"] as? String == "1000")
        #expect(claims["productId"] as? String == "monthly" && claims["offerIdentifier"] as? String == "keep")
        #expect(claims["bid"] as? String == "com.example.app" && claims["aud"] as? String == "promotional-offer")
        let jws = try #require(
            (response.json["promotionalOffer"] as? [String: Any])?["promotionalOfferSignatureV2"] as? String)
        #expect(
            response.text
                == #"{"promotionalOffer":{"messageIdentifier":"\#(Retention.message(1))","promotionalOfferSignatureV2":"\#(jws)"}}"#
        )
        let authorisations = try await service.authorisations(of: "1000")
        #expect(authorisations.map(\.state) == [.outstanding] && authorisations[0].expiresAt == Sample.day(11))
    }

    @Test(
        "a V1 signature has Apple's names, a nonce in lower case, and the customer's token", arguments: [true, false])
    func version1(hasAccount: Bool) async throws {
        let service = try StoreService.retention(
            """
            - rule: retention
              signature: v1
              promotionalOffer: {productID: monthly, offerID: keep, message: \(Retention.message(1).uppercased())}
            """, hasIssuerID: false)
        try await service.addSubscriber(account: hasAccount ? 1 : nil, autoRenew: false)
        let response = try await service.message()
        let signature = try #require(response.offerV1, "\(response.text)")
        let (encoded, nonce) = (
            try #require(signature["encodedSignature"] as? String), try #require(signature["nonce"] as? String)
        )
        #expect(nonce == nonce.lowercased())
        let token = Sample.token(1).description
        let accountMember = hasAccount ? #","appAccountToken":"\#(token)""# : ""
        let timestamp = Sample.day(10).milliseconds
        let key = try Fixtures.keyID()
        #expect(
            response.text
                == #"{"promotionalOffer":{"messageIdentifier":"\#(Retention.message(1))","promotionalOfferSignatureV1":{"#
                + #""encodedSignature":"\#(encoded)","productId":"monthly","nonce":"\#(nonce)","timestamp":\#(timestamp),"#
                + #""keyId":"\#(key)","offerIdentifier":"keep"\#(accountMember)}}}"#)
        let payload = OfferPayload(
            appBundleID: Sample.bundleID, keyID: key, productIdentifier: Self.product("monthly"),
            offerID: try OfferID(utf8: Array("keep".utf8)),
            customer: hasAccount ? .appAccountToken(Sample.token(1)) : try Customer(applicationUsername: []),
            nonce: try Nonce(utf8: Array(nonce.utf8)), timestamp: Timestamp(milliseconds: timestamp))
        let der = try #require(Data(base64Encoded: encoded))
        #expect(try service.pair.verifyingKey.verify([UInt8](der), of: payload.bytes))
    }

    // MARK: Which case

    @Test("an offer that its ledger or what is always in force refuses is skipped, and the next case is tried")
    func skipping() async throws {
        let cases = """
            - rule: retention
              promotionalOffer: {productID: monthly, offerID: keep, message: \(Retention.message(1))}
            - rule: retention
              promotionalOffer: {productID: monthly, offerID: second, message: \(Retention.message(2))}
            - message: \(Retention.message(5))
            """
        let service = try StoreService.retention(
            cases,
            offers:
                "{offerID: keep, limits: {perCustomer: 1, outstanding: 1}}, {offerID: second, limits: {outstanding: 1}}"
        )
        try await service.addSubscriber(autoRenew: false)
        #expect(try await service.message(Request(1)).offerClaims?["offerIdentifier"] as? String == "keep")
        #expect(try await service.message(Request(2)).offerClaims?["offerIdentifier"] as? String == "second")
        #expect(try await service.message(Request(3)).text == Retention.shown(5))
        var (signed, shown): ([String: Int64?], [Int64?]) = ([:], [])
        // The answers are recorded after they were given.
        try await waitUntil {
            shown = []
            for record in try await service.store.everyRecord() {
                if case .retentionShown(_, let answer) = record { shown.append(answer.caseNumber) }
                guard case .authorisation(_, let entry) = record else { continue }
                signed["\(entry.authorisation.offerID.text)"] = entry.authorisation.source?.retentionCase
            }
            return shown.count == 3
        }
        #expect(signed == ["keep": 1, "second": 2] && Set(shown) == [1, 2, 3])
        // A family member gets no offer, whatever the rule says.
        try await service.addSubscriber("2000", account: 2, autoRenew: false) { $0.ownership = .familyShared }
        let shared = Request(4).with("originalTransactionId", #""2000""#)
        #expect(try await service.message(shared).text == Retention.shown(5))
    }

    @Test("the rule of the case counts, and not the offer's own")
    func ruleOfCase() async throws {
        let service = try await StoreService.retentionWithAutoRenewOff()
        #expect(try await service.decide().eligible == ["second"], "keep is for win-back")
        #expect(try await service.message().offerClaims?["offerIdentifier"] as? String == "keep")
    }

    @Test("a case of an offer without a rule of its own follows the rule of the offer")
    func ruleOfOffer() async throws {
        let service = try StoreService.retention(
            "- promotionalOffer: {productID: monthly, offerID: keep, message: \(Retention.message(1))}",
            offers: "{offerID: keep, rule: retention}")
        try await service.addSubscriber()
        try await service.addSubscriber("2000", account: 2, autoRenew: false)
        let refused = try await service.message()
        #expect(refused.status == 404 && refused.json["code"] as? String == "no_retention_message")
        let granted = try await service.message(Request(2).with("originalTransactionId", #""2000""#))
        #expect(granted.offerClaims?["transactionId"] as? String == "2000")
    }

    @Test("the account holds the offer too, so its other subscription gets no second one")
    func account() async throws {
        let service = try StoreService.retention(
            "- rule: retention\n  promotionalOffer: {productID: monthly, offerID: keep, message: \(Retention.message(1))}",
            offers: "{offerID: keep, limits: {perCustomer: 1}}")
        try await service.addSubscriber(autoRenew: false)
        try await service.addSubscriber("2000", autoRenew: false)
        #expect(try await service.message().status == 200)
        let second = try await service.message(Request(2).with("originalTransactionId", #""2000""#))
        #expect(second.status == 404, "\(second.text)")
        #expect(try await service.decide().refused["keep"] == ["outstanding"])
    }

    @Test("a customer whom nobody knows gets the last case if it needs no rule, else nothing")
    func unknownCustomer() async throws {
        let service = try StoreService.retention()
        #expect(try await service.message().text == Retention.shown(5))
        let other = try StoreService.retention("- {rule: loyalty, message: \(Retention.message(1))}")
        let response = try await other.message()
        #expect(response.status == 404 && response.json["code"] as? String == "no_retention_message")
    }

    @Test("an offer that cannot be signed is skipped: without an issuer ID, and by V1 in the sandbox")
    func unsignable() async throws {
        let service = try StoreService.retention(hasIssuerID: false)
        try await service.addSubscriber(autoRenew: false)
        #expect(try await service.message().text == Retention.shown(5))
        #expect(try await service.authorisations(of: "1000").isEmpty)
        let cases = Retention.cases.replacing("  promotionalOffer", with: "  signature: v1\n  promotionalOffer")
        let sandbox = try StoreService.retention(cases)
        try await sandbox.addSubscriber(autoRenew: false, in: Sample.sandbox)
        #expect(try await sandbox.message(Request().with("environment", #""Sandbox""#)).text == Retention.shown(5))
    }

    @Test("messages differ by environment where they are uploaded to each")
    func environments() async throws {
        let service = try StoreService.retention(
            "- message: {Production: {default: \(Retention.message(1))}, Sandbox: \(Retention.message(2))}"
        )
        try await service.addSubscriber(in: Sample.sandbox)
        #expect(try await service.message().text == Retention.shown(1))
        let sandbox = Request(2).with("environment", #""Sandbox""#)
        #expect(try await service.message(sandbox).text == Retention.shown(2))
    }

    // MARK: Refusals

    @Test("a request that Apple did not sign, or not for us, or not now, is refused and never answered with content")
    func refusals() async throws {
        let service = try StoreService.retention(app: "appAppleID: 1234567890\n    environments: [Production]")
        try await service.addSubscriber(autoRenew: false)
        var forged = Request()
        forged.chain = try TestChain()
        let minutes = 60_000 / Double(86_400_000)
        let refused: [(Request, String)] = [
            (forged, "certificate_signature_invalid"),
            (Request().with("appAppleId", "531412"), "another_app_apple_id"),
            (Request().with("environment", #""Sandbox""#), "environment_not_accepted"),
            (Request(at: Sample.day(10 - 5.01 * minutes)), "signed_too_long_ago"),
            (Request(at: Sample.day(10 + 5.01 * minutes)), "signed_in_future"),
        ]
        for (request, reason) in refused {
            let response = try await service.message(request)
            #expect(response.status == 422 && response.json["reason"] as? String == reason, "\(response.text)")
            #expect(response.json["code"] as? String == "retention_request_refused")
        }
        #expect(try await service.authorisations(of: "1000").isEmpty)
        #expect(try await service.message(Request(at: Sample.day(10 - 4.9 * minutes))).status == 200)
        #expect(try await service.message(Request(2, at: Sample.day(10 + 4.9 * minutes))).status == 200)
        #expect(
            service.routes.scrape()[#"offer_signer_app_store_data_total{data="retention-request",outcome="refused"}"#]
                == Double(refused.count))
    }

    @Test("data of another kind is no request, although Apple signed it")
    func anotherKind() async throws {
        let service = try StoreService.retention()
        let jws = try TestChain.standard.get().jws(SamplePayload.transaction)
        let response = await service.routes.postLater(
            "/v1/retention-messages", #"{"signedPayload":"\#(jws)"}"#)
        #expect(response.status == 422 && response.json["reason"] as? String == "payload_of_another_kind")
    }

    @Test(
        "a body that cannot be read is refused, whatever its media type",
        arguments: ["", "[]", "{}", #"{"signedPayload":1}"#])
    func bodies(body: String) async throws {
        let service = try StoreService.retention()
        let response = await service.routes.postLater("/v1/retention-messages", body)
        #expect(response.status == 400, "\(response.text)")
        let plain = HTTPRequest(
            method: "POST", target: "/v1/retention-messages", contentType: nil, body: Array(try Request().body().utf8))
        #expect(await service.routes.respondLater(plain).status == 200)
    }

    @Test("an app without cases answers that there is nothing to show")
    func withoutCases() async throws {
        let service = try StoreService("{offerID: keep, rule: retention}")
        let response = await service.routes.postLater("/v1/retention-messages", try Request().body())
        #expect(response.status == 404 || response.status == 503, "\(response.text)")
    }

    // MARK: Records

    @Test("an offer has its line in the audit trail, and each decision one in the log, without personal data")
    func records() async throws {
        let folder = try TemporaryFolder()
        let trail = try #require(try await StoreService.trail(in: folder))
        let service = try StoreService.retention { $0.safeguards.trail = trail }
        try await service.addSubscriber(autoRenew: false)
        #expect(try await service.message().status == 200)
        let lines = try folder.lines("audit.jsonl").filter { $0.contains(#""outcome":"signed""#) }
        #expect(lines.count == 1 && lines[0].contains(#""rule":"retention""#), "\(lines)")
        let log = service.routes.log.text
        #expect(log.contains("retention message decided"))
        #expect(!log.contains("1000") || !log.contains("originalTransaction"), "\(log)")
        let series =
            #"{app="com.example.app",environment="Production",answer="promotional_offer",rule="retention",reason="rules"}"#
        #expect(service.routes.scrape()["offer_signer_retention_answers_total" + series] == 1)
        #expect(service.routes.scrape()["offer_signer_retention_seconds_count"] == 1)
    }

    // MARK: Helpers

    private static func product(_ text: String) -> ProductID {
        do { return try ProductID(utf8: Array(text.utf8)) } catch { fatalError("\(error)") }
    }

    /// The same purchase of another product.
    private static func purchase(_ text: String, like other: Purchase) -> Purchase {
        var purchase = Purchase(productID: product(text), purchaseDate: other.purchaseDate)
        purchase.type = other.type
        purchase.subscriptionGroupID = other.subscriptionGroupID
        purchase.expiresDate = other.expiresDate
        purchase.ownership = other.ownership
        purchase.reason = other.reason
        purchase.appAccountToken = other.appAccountToken
        return purchase
    }

    private func setEpisodes(_ count: Int, _ service: StoreService) async throws {
        try await service.store.setTeamFacts(
            [Sample.text("episodesWatched"): .number(Array("\(count)".utf8))], of: Sample.account(1),
            in: Sample.production,
            at: Sample.day(1))
    }
}
