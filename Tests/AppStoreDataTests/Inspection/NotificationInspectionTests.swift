import AppStoreData
import OfferCore
import Testing

@testable import AppStoreTestSupport

@Suite("Inspection of notifications")
struct NotificationInspectionTests {
    private static let transactionMember = "data.signedTransactionInfo"
    private static let renewalMember = "data.signedRenewalInfo"

    /// A notification with a transaction and renewal info.
    private static func notification(
        transaction: SamplePayload = .transaction, renewalInfo: SamplePayload = .renewalInfo
    ) throws -> [UInt8] {
        try notification(transaction: transaction.signed(), renewalInfo: renewalInfo.signed())
    }

    private static func notification(transaction: [UInt8], renewalInfo: [UInt8]) throws -> [UInt8] {
        let data = SamplePayload.data.with("signedTransactionInfo", jws: transaction)
            .with("signedRenewalInfo", jws: renewalInfo)
        return try SamplePayload.notification("DID_RENEW", data).signed()
    }

    @Test("each JWS inside is verified and decoded")
    func inner() throws {
        let inspected = try Inspected.jws(Self.notification())
        #expect(inspected.isVerified == true && inspected.kind == "notification")
        let transaction = try #require(inspected[Self.transactionMember])
        #expect(transaction.isVerified == true && transaction.kind == "transaction")
        #expect(transaction.payload?["productId"] as? String == "com.example.app.pro.monthly")
        #expect(transaction.certificates.count == 3)
        let renewalInfo = try #require(inspected[Self.renewalMember])
        #expect(renewalInfo.isVerified == true && renewalInfo.kind == "renewal-info")
    }

    @Test("a forged JWS inside refuses the notification and is named")
    func forged() throws {
        let forged = try TestChain.standard.get().jws(payload: SamplePayload.transaction.text, key: .p256())
        let inspected = try Inspected.jws(
            Self.notification(transaction: forged, renewalInfo: SamplePayload.renewalInfo.signed()),
            InspectionOptions(time: Timestamp(milliseconds: TestTime.now * 1000)))
        #expect(inspected.isVerified == false && inspected.reason == "signature_invalid")
        #expect(inspected.member == Self.transactionMember)
        #expect(inspected[Self.transactionMember]?.reason == "signature_invalid")
        #expect(inspected[Self.transactionMember]?.member == nil)
        #expect(inspected[Self.renewalMember]?.isVerified == true)
    }

    @Test("what does not belong to the notification is refused where it stands")
    func strangers() throws {
        let app = try Inspected.jws(
            Self.notification(transaction: .transaction.with("bundleId", #""com.example.other""#)))
        #expect(app.reason == "another_bundle_id" && app.member == Self.transactionMember)
        #expect(app[Self.transactionMember]?.reason == "another_bundle_id")
        let subscription = try Inspected.jws(
            Self.notification(renewalInfo: .renewalInfo.with("originalTransactionId", #""1""#)))
        #expect(subscription.reason == "another_subscription" && subscription.member == Self.renewalMember)
        #expect(subscription[Self.renewalMember]?.isVerified == false)
        let kind = try Inspected.jws(Self.notification(transaction: .renewalInfo))
        #expect(kind[Self.transactionMember]?.isVerified == false && kind.member == Self.transactionMember)
    }

    @Test("the JWS inside a notification that fails are inspected too")
    func refused() throws {
        let other = try BundleID(utf8: Array("com.example.other".utf8))
        let inspected = try Inspected.jws(
            Self.notification(), InspectionOptions(origin: ExpectedOrigin(bundleID: other)))
        #expect(inspected.reason == "another_bundle_id" && inspected.member == nil)
        #expect(inspected[Self.transactionMember]?.isVerified == true)
    }
}
