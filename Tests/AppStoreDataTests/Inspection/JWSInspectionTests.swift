import AppStoreData
import OfferCore
import OfferEligibility
import Testing

@testable import AppStoreTestSupport

@Suite("Inspection of JWS")
struct JWSInspectionTests {
    private static func options(
        bundleID: String? = nil, appAppleID: Int64? = nil, environment: AppStoreEnvironment? = nil
    ) throws -> InspectionOptions {
        let bundleID = try bundleID.map { try BundleID(utf8: Array($0.utf8)) }
        return InspectionOptions(
            origin: ExpectedOrigin(
                bundleID: bundleID, appAppleID: appAppleID, environments: environment.map { [$0] }))
    }

    @Test(
        "each kind is recognised, verified and printed as signed",
        arguments: zip(
            [
                SamplePayload.transaction, .renewalInfo, .appTransaction, .retentionRequest,
                .notification("RENEWAL_EXTENSION", .summary),
            ], ["transaction", "renewal-info", "app-transaction", "retention-request", "notification"]))
    func kinds(sample: SamplePayload, kind: String) throws {
        let inspected = try Inspected.jws(sample.signed())
        #expect(inspected.isVerified == true && inspected.kind == kind)
        #expect(inspected.reason == nil && inspected.sentence == nil && inspected.member == nil)
        #expect(Set(inspected.payload?.keys.map { $0 } ?? []) == Set(sample.names))
        #expect(inspected.effectiveDate == "2025-06-15T15:06:40.000Z")
        #expect(inspected.members["signedBy"] == nil)
    }

    @Test("the payload is copied byte for byte")
    func bytes() throws {
        let json = #"{ "requestIdentifier":"\u00e9", "userLocale" : "x","appAppleId":1.50e3,"a":[ ] }"#
        let jws = try TestChain.standard.get().jws(payload: json)
        let inspector = Inspector(now: Timestamp(milliseconds: 0))
        #expect(String(decoding: inspector.inspect(jws).json, as: UTF8.self).contains("\"payload\":\(json)"))
    }

    @Test("the verified certificates are listed from the leaf to the root, with their validity and fingerprint")
    func certificates() throws {
        let inspected = try Inspected.jws(SamplePayload.transaction.signed())
        #expect(inspected.subjects == ["CN=Test Receipt Signing", "CN=Test Developer Relations CA", "CN=Test Root CA"])
        #expect(inspected.certificates.allSatisfy { $0["notBefore"] == "2023-11-14T22:13:20.000Z" })
        #expect(inspected.certificates.allSatisfy { $0["notAfter"] == "2027-01-15T08:00:00.000Z" })
        #expect(inspected.certificates.allSatisfy { $0["fingerprint"]?.count == 64 })
    }

    @Test("a JWS of an unknown root is refused but shown, with the certificates in its header")
    func unknownRoot() throws {
        let jws = try TestChain().jws(payload: SamplePayload.transaction.text)
        let inspected = try Inspected.jws(jws, InspectionOptions(time: Timestamp(milliseconds: TestTime.now * 1000)))
        #expect(inspected.isVerified == false && inspected.reason == "certificate_signature_invalid")
        #expect(inspected.kind == "transaction")
        #expect(inspected.payload?["transactionId"] as? String == "2000000987654321")
        #expect(inspected.subjects == ["CN=Test Receipt Signing", "CN=Test Developer Relations CA"])
        let apple = try Inspected(Inspector(now: Timestamp(milliseconds: 0)).inspect(jws))
        #expect(apple.reason == "root_not_trusted")
    }

    @Test("without a time the date of signing counts; with one, that time counts, also for the JWS inside")
    func time() throws {
        let notification = SamplePayload.notification(
            "RESCIND_CONSENT",
            .appData.with("signedAppTransactionInfo", jws: try SamplePayload.appTransaction.signed()))
        let jws = try notification.signed()
        #expect(try Inspected.jws(jws, at: TestTime.end + 1).isVerified == true)
        let late = Timestamp(milliseconds: (TestTime.end + 1) * 1000)
        let inspected = try Inspected.jws(jws, InspectionOptions(time: late))
        #expect(inspected.isVerified == false && inspected.reason == "certificate_expired")
        #expect(inspected.effectiveDate == "2027-01-15T08:00:01.000Z")
        let inner = try #require(inspected["appData.signedAppTransactionInfo"])
        #expect(inner.reason == "certificate_expired" && inner.effectiveDate == inspected.effectiveDate)
    }

    @Test("only what is named is checked, the app before the environment")
    func origin() throws {
        let jws = try SamplePayload.appTransaction.signed()
        let right = try Self.options(
            bundleID: "com.example.app", appAppleID: 1_234_567_890, environment: .production)
        #expect(try Inspected.jws(jws, right).isVerified == true)
        func reason(_ options: InspectionOptions) throws -> String? { try Inspected.jws(jws, options).reason }
        #expect(try reason(Self.options(bundleID: "com.example.other", environment: .sandbox)) == "another_bundle_id")
        #expect(try reason(Self.options(appAppleID: 1, environment: .sandbox)) == "another_app_apple_id")
        #expect(try reason(Self.options(environment: .sandbox)) == "environment_not_accepted")
        let renewalInfo = try SamplePayload.renewalInfo.signed()
        #expect(try Inspected.jws(renewalInfo, Self.options(bundleID: "com.example.other")).isVerified == true)
    }

    @Test("another kind than the demanded one is refused after the signature")
    func demandedKind() throws {
        let jws = try SamplePayload.transaction.signed()
        #expect(try Inspected.jws(jws, InspectionOptions(kind: .transaction)).isVerified == true)
        let other = try Inspected.jws(jws, InspectionOptions(kind: .notification))
        #expect(other.reason == "payload_of_another_kind" && other.kind == "transaction")
        #expect(other.sentence == "The payload is a transaction, but a notification is expected.")
        let receipt = try Inspected.jws(jws, InspectionOptions(kind: .receipt))
        #expect(receipt.sentence == "The input is a JWS, but an app receipt is expected.")
        let forged = try TestChain.standard.get().jws(payload: SamplePayload.transaction.text, key: .p256())
        #expect(try Inspected.jws(forged, InspectionOptions(kind: .notification)).reason == "signature_invalid")
    }

    @Test("verified JSON of an unknown kind is refused; a demanded kind names the missing member")
    func unknownKind() throws {
        let jws = try SamplePayload.transaction.without("transactionId").signed()
        let any = try Inspected.jws(jws)
        #expect(any.reason == "payload_unrecognised" && any.kind == nil && any.payload != nil)
        let transaction = try Inspected.jws(jws, InspectionOptions(kind: .transaction))
        #expect(transaction.reason == "payload_member_missing" && transaction.sentence == "transactionId is missing.")
    }

    @Test(
        "a date that no calendar has is refused and not printed",
        arguments: ["1e300", "-9e15", "\"now\"", "-99999999999999"])
    func dates(date: String) throws {
        let jws = try TestChain.standard.get().jws(payload: SamplePayload.transaction.with("signedDate", date).text)
        let inspected = try Inspected.jws(jws)
        #expect(inspected.isVerified == false && inspected.effectiveDate == nil)
    }

    @Test("Xcode's data needs development and its certificate, and says who signed it")
    func xcode() throws {
        let chain = try TestChain()
        let payload = SamplePayload.transaction.with("environment", "\"Xcode\"")
            .with("signedDate", "\(TestTime.now)123.5")
        let jws = try chain.jws(header: chain.header(x5c: [chain.root]), payload: payload.text, key: chain.rootKey)
        let inspected = try Inspected(jws, trusting: chain.root, isDevelopment: true)
        #expect(inspected.isVerified == true && inspected.members["signedBy"] as? String == "xcode")
        #expect(inspected.subjects == ["CN=Test Root CA"])
        #expect(try Inspected(jws, trusting: chain.root).reason == "certificate_count")
        #expect(try Inspected(jws, trusting: chain.leaf, isDevelopment: true).reason == "root_not_trusted")
    }
}
