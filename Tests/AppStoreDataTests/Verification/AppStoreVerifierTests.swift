import AppStoreData
import OfferCore
import OfferCrypto
import OfferEligibility
import Testing

@testable import AppStoreTestSupport

@Suite("App Store verifier")
struct AppStoreVerifierTests {
    private static let date = EffectiveDate.at(TestTime.now)

    private static func verifier() throws -> AppStoreVerifier {
        let roots = try [TestChain.standard.get().root, ReceiptSigner.standard.get().chain.root]
        return AppStoreVerifier(roots: TrustedRoots(try roots.map { try X509Certificate(der: $0) }))
    }

    private static func jws(_ payload: SamplePayload) throws -> [UInt8] {
        try TestChain.standard.get().jws(payload: payload.text)
    }

    private static func quoted(_ payload: SamplePayload, by chain: TestChain? = nil) throws -> String {
        let jws = try (chain ?? TestChain.standard.get()).jws(payload: payload.text)
        return "\"\(String(decoding: jws, as: UTF8.self))\""
    }

    private static func apps() throws -> ExpectedApps { try ExpectedApps([OriginTests.app()]) }

    private static func refusal(_ body: () throws -> Void) -> DataRefusal? {
        do {
            try body()
            return nil
        } catch { return error as? DataRefusal }
    }

    @Test("a payload is decoded as the kind that its members make", arguments: PayloadKind.allCases)
    func kinds(kind: PayloadKind) throws {
        let samples: [PayloadKind: SamplePayload] = [
            .transaction: .transaction, .renewalInfo: .renewalInfo, .appTransaction: .appTransaction,
            .notification: SamplePayload.notifications[0], .retentionRequest: .retentionRequest,
        ]
        let sample = try #require(samples[kind])
        let data = try Self.verifier().verify(Self.jws(sample), at: Self.date)
        #expect(type(of: data.payload.value).kind == kind)
        #expect(data.object.json == sample.json)
    }

    @Test(
        "whoever has Xcode's key can only write about tests in Xcode",
        arguments: [
            ("environment", #""Xcode""#, true), ("environment", #""LocalTesting""#, true),
            ("environment", #""Sandbox""#, false), ("environment", #""Production""#, false),
            ("environment", nil, false), ("receiptType", #""Production""#, false),
        ] as [(String, String?, Bool)])
    func xcode(member: String, value: String?, isAccepted: Bool) throws {
        let chain = try TestChain()
        var payload = SamplePayload.transaction.with("environment", #""Xcode""#)
        payload = value.map { payload.with(member, $0) } ?? payload.without(member)
        let jws = try chain.jws(header: chain.header(x5c: [chain.root]), payload: payload.text, key: chain.rootKey)
        let roots = TrustedRoots([try X509Certificate(der: chain.root)])
        let refusal = Self.refusal {
            let _: VerifiedData<SignedTransaction> =
                try AppStoreVerifier(roots: roots, isDevelopment: true).verify(jws, at: Self.date)
        }
        #expect(refusal?.code == (isAccepted ? nil : "not_from_app_store"))
    }

    @Test("a payload of another kind than the expected one is genuine but refused")
    func anotherKind() throws {
        let refusal = Self.refusal {
            let _: VerifiedData<SignedTransaction> = try Self.verifier().verify(
                Self.jws(.renewalInfo), at: Self.date)
        }
        #expect(refusal?.code == "payload_of_another_kind")
        #expect(refusal?.isGenuine == true && refusal?.isRetryable == false)
    }

    @Test("a notification is believed with each JWS inside it")
    func notification() throws {
        let data = SamplePayload.data.with("signedTransactionInfo", try Self.quoted(.transaction))
            .with("signedRenewalInfo", try Self.quoted(.renewalInfo))
        let notification = try Self.verifier().receiveNotification(
            Self.jws(.notification("DID_RENEW", data)), for: Self.apps(), at: Self.date)
        #expect(
            notification.verified?.contents.record?.renewalInfo.originalTransactionID.text.description
                == "2000000123456789")
    }

    @Test("of a notification with a forged JWS inside, nothing is believed but whose it is")
    func forgedInside() throws {
        let stranger = try TestChain()
        let data = SamplePayload.data.with("signedTransactionInfo", try Self.quoted(.transaction, by: stranger))
            .with("signedRenewalInfo", try Self.quoted(.renewalInfo))
        let received = try Self.verifier().receiveNotification(
            Self.jws(.notification("DID_RENEW", data)), for: Self.apps(), at: Self.date)
        let refusal = received.fault
        #expect(received.verified == nil)
        #expect(refusal?.code == "root_not_trusted" || refusal?.code == "certificate_signature_invalid")
        #expect(refusal?.member == "data.signedTransactionInfo")
        #expect(refusal?.isGenuine == false)
    }

    @Test("content without a bundle ID is about the app with the named Apple ID, or about the only app")
    func unnamedApp() throws {
        let one = try OriginTests.app()
        let other = try OriginTests.app("com.example.other", 7, [.sandbox])
        let sandbox = try OriginTests.app("com.example.third", nil)
        func received(_ content: String, _ apps: [ExpectedApp]) throws -> ReceivedNotification? {
            let unclaimed = SamplePayload.notification("UNCLAIM_SEATS", .data).without("data").with("news", content)
            return try? Self.verifier().receiveNotification(
                Self.jws(unclaimed), for: ExpectedApps(apps), at: Self.date)
        }
        for (content, apps, app, environment) in [
            ("{}", [one], one, .production), ("1", [one], one, .production), ("{}", [other], other, .sandbox),
            ("{}", [sandbox], sandbox, .sandbox), (#"{"environment":"Sandbox"}"#, [one], one, .sandbox),
            (#"{"appAppleId":7}"#, [one, other], other, .sandbox), ("{}", [one, other], nil, nil), ("{}", [], nil, nil),
            (#"{"appAppleId":8}"#, [one], nil, nil), (#"{"environment":"Production"}"#, [other], nil, nil),
        ] as [(String, [ExpectedApp], ExpectedApp?, AppStoreEnvironment?)] {
            let received = try received(content, apps)
            #expect(received?.app == app && received?.environment == environment, "\(content)")
            #expect(received == nil || received?.verified == nil && received?.fault == nil)
        }
        // The App Store is asked about the history of one app.
        let asked = try ExpectedApps([one, other]).asked(
            about: AppScope(bundleID: other.bundleID, environment: .sandbox))
        let unclaimed = SamplePayload.notification("UNCLAIM_SEATS", .data).without("data").with("news", "{}")
        let listed = try Self.verifier().receiveNotification(Self.jws(unclaimed), for: asked, at: Self.date)
        #expect(listed.app == other && listed.environment == .sandbox && !listed.isAppAssumed)
        let refusal = try #require(throws: DataRefusal.self) {
            try Self.verifier().receiveNotification(
                Self.jws(SamplePayload.notification("UNCLAIM_SEATS", .data).without("data").with("news", "{}")),
                for: ExpectedApps([one, other]), at: Self.date)
        }
        #expect(refusal.sentence.hasSuffix("The notification is of type UNCLAIM_SEATS."))
        #expect(refusal.notificationType == "UNCLAIM_SEATS")
    }

    @Test("the purchases of a receipt become transactions, as old as the receipt")
    func receipt() throws {
        var trial = TestReceipt.Purchase(transactionID: "2000000000000043")
        trial.put(.number(1713, 1))
        var offered = TestReceipt.Purchase(transactionID: "2000000000000044")
        offered.put(.text(1721, "winback_1m"))
        var refunded = TestReceipt.Purchase(transactionID: "2000000000000045")
        refunded.put(.number(1719, 0))
        refunded.put(.date(1712, "2025-06-10T10:00:00Z"))
        var first = TestReceipt.Purchase(transactionID: "7")
        first.remove(1705)
        first.remove(1719)
        let receipt = TestReceipt(purchases: [trial, offered, refunded, first])
        let message = try ReceiptSigner.standard.get().message(receipt).encoded
        let verified = try Self.verifier().verifyReceipt(
            message, at: Timestamp(milliseconds: TestTime.now * 1000))
        let transactions = verified.transactions
        #expect(
            transactions.map(\.transactionID.text.description) == [
                "2000000000000043", "2000000000000044", "2000000000000045", "7",
            ])
        for transaction in transactions {
            #expect(transaction.source == .receipt && transaction.json == nil)
            #expect(transaction.signedDate == verified.receipt.creationDate)
            #expect(transaction.environment == .sandbox && transaction.type == .autoRenewableSubscription)
            #expect(transaction.bundleID.text.description == "com.example.app")
        }
        #expect(transactions[0].offer?.type == .introductory && transactions[0].offer?.discountType == .freeTrial)
        #expect(transactions[1].offer?.type == .promotional && transactions[1].offer?.identifier == "winback_1m")
        #expect(transactions[2].offer == nil)
        #expect(transactions[2].revocation?.date == Timestamp(milliseconds: 1_749_549_600_000))
        #expect(transactions[3].originalTransactionID.text.description == "7" && transactions[3].offer == nil)
        #expect(transactions[0].originalTransactionID.text.description == "2000000000000041")
        #expect(transactions[0].webOrderLineItemID == "2000000000000099")
    }

    @Test("a certificate found revoked refuses JWS and receipts")
    func revoked() throws {
        let verifier = try Self.verifier()
        let (chain, signer) = (try TestChain.standard.get(), try ReceiptSigner.standard.get())
        let message = try signer.message(TestReceipt()).encoded
        let time = Timestamp(milliseconds: TestTime.now * 1000)
        _ = try verifier.verify(Self.jws(.transaction), at: Self.date)
        _ = try verifier.verifyReceipt(message, at: time)
        verifier.knownChains.revoke(try X509Certificate(der: chain.leaf).identity)
        verifier.knownChains.revoke(try X509Certificate(der: signer.chain.intermediate).identity)
        #expect(
            Self.refusal { _ = try verifier.verify(Self.jws(.transaction), at: Self.date) }?.code
                == "certificate_revoked")
        let refusal = Self.refusal { _ = try verifier.verifyReceipt(message, at: time) }
        #expect(refusal?.code == "certificate_revoked" && refusal?.isGenuine == false)
    }

    @Test("every code is listed once, and every failure has one of them")
    func codes() {
        #expect(Set(DataRefusal.codes).count == DataRefusal.codes.count)
        let reasons: [PayloadError.Reason] = [
            .notJSON(JSONError(.notUTF8, at: 0)), .notAnObject, .unrecognised, .ambiguous([]),
            .wrongKind(expected: .transaction, found: .renewalInfo), .missing,
            .wrongType(expected: "a", found: "b"), .invalid(.empty), .conflicting(with: "a"),
        ]
        for reason in reasons { #expect(DataRefusal.codes.contains(PayloadError(reason).code)) }
        let receipts: [ReceiptFailure] = [
            .payload(ReceiptPayloadError(.missing)), .refused(.expired),
            .notVerified(VerificationFailure(.receiptDetached)),
        ]
        for failure in receipts { #expect(DataRefusal.codes.contains(DataRefusal(failure).code)) }
    }
}
