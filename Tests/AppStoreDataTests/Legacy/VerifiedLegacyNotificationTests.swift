import OfferCore
import OfferCrypto
import OfferEligibility
import Testing

@testable import AppStoreData
@testable import AppStoreTestSupport

extension ReceiptTests {
    @Suite("Verified notifications of version 1", .serialized)
    struct VerifiedLegacyNotificationTests {
        private typealias Failure = LegacyNotificationFailure

        private static let sample = SamplePayload.legacyNotification
        private static let now = Timestamp(milliseconds: TestTime.now * 1000)
        private static let purchases = [TestReceipt.Purchase(), TestReceipt.Purchase(transactionID: "43")]

        private static func base64(_ receipt: TestReceipt) throws -> String {
            let message = try ReceiptSigner.standard.get().message(receipt).encoded
            return String(decoding: Base64.text(of: message), as: UTF8.self)
        }

        private static func verifier() throws -> AppStoreVerifier {
            let root = try ReceiptSigner.standard.get().chain.root
            return AppStoreVerifier(roots: TrustedRoots([try X509Certificate(der: root)]))
        }

        private static func verify(
            _ sample: SamplePayload, secret: String? = "shared-secret", _ app: ExpectedApp? = nil
        ) throws -> VerifiedLegacyNotification {
            let verifier = try verifier()
            let apps = try ExpectedApps([app ?? OriginTests.app()])
            return try VerifiedLegacyNotification(
                sample.legacy, for: apps, sharedSecret: { _ in secret.map(Secret.init) }
            ) { receipt throws(DataRefusal) in try verifier.verifyReceipt(receipt, at: now) }
        }

        private static func failure(
            _ sample: SamplePayload, secret: String? = "shared-secret", _ app: ExpectedApp? = nil
        ) throws -> Failure? {
            do {
                _ = try verify(sample, secret: secret, app)
                return nil
            } catch let failure as Failure { return failure }
        }

        /// Why a receipt is not believed, although the password is right.
        private static func code(_ receipt: TestReceipt, _ sample: SamplePayload = sample) throws -> String? {
            try refusal(sample.withReceipt(base64(receipt)))?.code
        }

        /// A refused receipt brings no facts and no date.
        private static func refusal(_ sample: SamplePayload) throws -> DataRefusal? {
            let verified = try verify(sample)
            guard let refusal = verified.receiptRefusal else { return nil }
            #expect(verified.receipt == nil && verified.signedDate == nil && verified.signedTexts.isEmpty)
            #expect(try verified.facts.isEmpty)
            return refusal
        }

        @Test("the facts are those of the receipt, as old as the receipt, and nothing else")
        func facts() throws {
            let base64 = try Self.base64(TestReceipt(purchases: Self.purchases))
            let verified = try Self.verify(Self.sample.withReceipt(base64))
            let receipt = try #require(Base64.bytes(of: Array(base64.utf8)))
            let expected = try Self.verifier().verifyReceipt(receipt, at: Self.now).facts(text: receipt)
            #expect(Set(try verified.facts) == Set(expected) && expected.count == 2)
            #expect(Set(try verified.facts.map(\.digest)) == [try SHA256.hash(receipt)])
            #expect(verified.signedDate == Self.now)
            #expect(verified.app.bundleID.text.description == "com.example.app" && verified.environment == .sandbox)
            #expect(verified.name == NotificationName(.didChangeRenewalStatus, .autoRenewDisabled))
            #expect(verified.notificationUUID == (try Self.sample.withReceipt(base64).legacy.identity()))
        }

        @Test("what is not signed changes no fact, whatever it says", arguments: ["CANCEL", "REFUND", "REVOKE"])
        func unsignedMembers(type: String) throws {
            let base64 = try Self.base64(TestReceipt(purchases: Self.purchases))
            let plain = try Self.verify(Self.sample.withReceipt(base64)).facts
            let other = Self.sample.ofType(type).with("original_transaction_id", "99").with("expiration_intent", "2")
                .with("auto_renew_status", #""true""#).withReceipt(base64)
            #expect(Set(try Self.verify(other).facts) == Set(plain))
        }

        @Test("base64 with line breaks is the same receipt")
        func lineBreaks() throws {
            let base64 = try Self.base64(TestReceipt(purchases: Self.purchases))
            let broken = base64.prefix(76) + #"\r\n"# + base64.dropFirst(76) + #"\n"#
            let facts = try Self.verify(Self.sample.withReceipt(String(broken))).facts
            #expect(Set(facts) == Set(try Self.verify(Self.sample.withReceipt(base64)).facts))
        }

        @Test("without a receipt there are no facts and no date")
        func noReceipt() throws {
            for sample in [Self.sample, Self.sample.without("unified_receipt")] {
                let verified = try Self.verify(sample)
                #expect(try verified.facts.isEmpty && verified.signedDate == nil && verified.receipt == nil)
            }
        }

        @Test("a receipt of a single transaction cannot be verified here, so it brings no facts")
        func transactionReceipt() throws {
            let list = Base64.text(of: Array(#"{"transaction-id" = "33993399";}"#.utf8))
            let text = #"{"signature" = "AbCd"; "purchase-info" = ""# + String(decoding: list, as: UTF8.self) + #"";}"#
            let base64 = String(decoding: Base64.text(of: Array(text.utf8)), as: UTF8.self)
            let verified = try Self.verify(Self.sample.withReceipt(base64))
            #expect(try verified.facts.isEmpty && verified.signedDate == nil && verified.receipt == nil)
        }

        // MARK: Password

        @Test(
            "only the app's shared secret is the password",
            arguments: [
                nil, #""""#, #""shared-secre""#, #""shared-secret ""#, #""Shared-secret""#, #""shared-secret\u0000""#,
            ])
        func wrongPassword(json: String?) throws {
            let sample = json.map { Self.sample.with("password", $0) } ?? Self.sample.without("password")
            #expect(try Self.failure(sample) == .wrongPassword)
        }

        @Test("the password is compared byte by byte, not as equivalent text")
        func composedPassword() throws {
            let sample = Self.sample.with("password", #""e\u0301""#)
            #expect(try Self.failure(sample, secret: "\u{E9}") == .wrongPassword)
            #expect(try Self.failure(sample, secret: "e\u{301}") == nil)
        }

        @Test("without a shared secret nothing is accepted, and an empty one is none", arguments: [nil, ""])
        func noSecret(secret: String?) throws {
            for sample in [Self.sample, Self.sample.with("password", #""""#), Self.sample.without("password")] {
                #expect(try Self.failure(sample, secret: secret) == .noSharedSecret)
            }
        }

        @Test("the shared secret asked for is that of the app that the notification names")
        func secretOfTheApp() throws {
            let apps = try ExpectedApps([OriginTests.app(), OriginTests.app("com.example.other", 7)])
            let secrets = ["com.example.app": "one", "com.example.other": "shared-secret"]
            for (bundleID, isAccepted) in [("com.example.app", false), ("com.example.other", true)] {
                let notification = try Self.sample.with("bid", "\"\(bundleID)\"").legacy
                let verified = try? VerifiedLegacyNotification(
                    notification, for: apps,
                    sharedSecret: { secrets[$0.text.description].map(Secret.init) }
                ) { _ throws(DataRefusal) in throw DataRefusal(CheckFailure.noApp) }
                #expect((verified != nil) == isAccepted, "\(bundleID)")
            }
        }

        @Test("a receipt is read only after the password is right")
        func orderOfChecks() throws {
            let bad = Self.sample.withReceipt("not base64")
            #expect(try Self.failure(bad.with("password", #""wrong""#)) == .wrongPassword)
            #expect(try Self.failure(bad)?.code == "payload_member_invalid")
        }

        @Test("nothing that is kept or thrown shows the password")
        func passwordIsNotShown() throws {
            let base64 = try Self.base64(TestReceipt(purchases: Self.purchases))
            var shown = ""
            dump(try Self.verify(Self.sample.withReceipt(base64)), to: &shown)
            dump(try Self.sample.legacy, to: &shown)
            shown += String(describing: try Self.failure(Self.sample.with("password", #""MarkedSecret""#)))
            // Bytes are dumped as numbers.
            #expect(!shown.contains("shared-secret") && !shown.contains("MarkedSecret"))
            #expect(!shown.contains(Array("shared-secret".utf8).map { "- \($0)" }.joined(separator: "\n")))
            #expect(try Self.sample.legacy.content["password"] == nil)
        }

        // MARK: App and environment

        @Test("another app's notification is refused before its password is looked at")
        func anotherApp() throws {
            let other = Self.sample.with("bid", #""com.example.other""#).with("password", #""wrong""#)
            #expect(try Self.failure(other) == .check(.anotherBundleID))
        }

        @Test("the environment must be one of the app's")
        func environment() throws {
            let production = try OriginTests.app("com.example.app", 1, [.production])
            #expect(try Self.failure(Self.sample, production) == .check(.environmentNotAccepted))
            #expect(try Self.failure(Self.sample.with("environment", #""PROD""#), production) == nil)
            let none = Self.sample.without("environment", "unified_receipt")
            #expect(try Self.failure(none) == .check(.environmentMissing))
        }

        // MARK: Receipt

        @Test("a receipt must be of the app and of the environment that the notification names")
        func receiptOrigin() throws {
            var other = TestReceipt(purchases: Self.purchases)
            other.put(.text(2, "com.example.other"))
            #expect(try Self.code(other) == "another_bundle_id")
            #expect(try Self.code(TestReceipt()) == nil)
            let production = Self.sample.with("environment", #""PROD""#)
            #expect(try Self.code(TestReceipt(), production) == "environment_not_accepted")
            var bought = TestReceipt(purchases: Self.purchases)
            bought.put(.text(0, "Production"))
            bought.put(.number(1, 1_234_567_890))
            #expect(try Self.code(bought, production) == nil)
            #expect(try Self.code(bought) == "environment_not_accepted")
            bought.put(.number(1, 7))
            #expect(try Self.code(bought, production) == "another_app_apple_id")
        }

        @Test("a forged or damaged receipt brings no facts, and the member is named")
        func forged() throws {
            var message = try ReceiptSigner.standard.get().message(TestReceipt(purchases: Self.purchases))
            message.signers[0].signature[0] ^= 1
            let base64 = String(decoding: Base64.text(of: message.encoded), as: UTF8.self)
            let refusal = try #require(try Self.refusal(Self.sample.withReceipt(base64)))
            #expect(refusal.code == "signature_invalid" && refusal.member == "unified_receipt.latest_receipt")
            #expect(try Self.refusal(Self.sample.withReceipt(""))?.code == "receipt_not_signed_data")
            #expect(try Self.refusal(Self.sample.withReceipt("AAAA"))?.code.hasPrefix("receipt_") == true)
            #expect(try Self.failure(Self.sample.withReceipt("AAA"))?.code == "payload_member_invalid")
        }

        @Test("a receipt that another root signed does not count")
        func anotherRoot() throws {
            let message = try ReceiptSigner.xcode.get().message(.xcode(purchases: Self.purchases))
            let base64 = String(decoding: Base64.text(of: message.encoded), as: UTF8.self)
            #expect(try Self.refusal(Self.sample.withReceipt(base64)) != nil)
        }

        @Test("only failures that may pass are retryable")
        func retryable() {
            let failures: [Failure] = [
                .noSharedSecret, .wrongPassword, .payload(PayloadError(.missing)), .check(.anotherBundleID),
                .receipt(DataRefusal(CheckFailure.anotherBundleID)),
                .receipt(DataRefusal(VerificationFailure(.verificationUnavailable))), .unavailable,
            ]
            #expect(failures.map(\.isRetryable) == [false, false, false, false, false, true, true])
            #expect(Set(failures.prefix(2).map(\.code)) == Set(Failure.codes))
            #expect(failures.allSatisfy { !$0.sentence.isEmpty })
        }
    }
}
