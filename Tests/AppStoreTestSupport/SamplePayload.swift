/// The members of a payload as JSON texts, so that a test can leave out or replace any one of them.
struct SamplePayload: Sendable, CustomStringConvertible {
    let name: String
    private(set) var members: [(name: String, json: String)]

    init(_ name: String, _ members: KeyValuePairs<String, String>) {
        self.name = name
        self.members = members.map { ($0.key, $0.value) }
    }

    var description: String { name }

    var names: [String] { members.map(\.name) }

    var text: String { "{" + members.map { "\"\($0.name)\":\($0.json)" }.joined(separator: ",") + "}" }

    var json: [UInt8] { Array(text.utf8) }

    func without(_ names: String...) -> SamplePayload { filter { !names.contains($0) } }

    func keeping(_ names: [String]) -> SamplePayload { filter(names.contains) }

    /// Replaces a member, or adds it at the end.
    func with(_ name: String, _ json: String) -> SamplePayload {
        var copy = self
        if let place = names.firstIndex(of: name) {
            copy.members[place].json = json
        } else {
            copy.members.append((name, json))
        }
        return copy
    }

    private func filter(_ isKept: (String) -> Bool) -> SamplePayload {
        var copy = self
        copy.members = members.filter { isKept($0.name) }
        return copy
    }
}

/// Payloads in the form that Apple documents, with every member that the documentation names.
extension SamplePayload {
    static let transaction = SamplePayload(
        "transaction",
        [
            "transactionId": #""2000000987654321""#, "originalTransactionId": #""2000000123456789""#,
            "webOrderLineItemId": #""2000000054321098""#, "bundleId": #""com.example.app""#,
            "productId": #""com.example.app.pro.monthly""#, "subscriptionGroupIdentifier": #""21012345""#,
            "purchaseDate": "1761130800000", "originalPurchaseDate": "1758538800000", "expiresDate": "1763812800000",
            "quantity": "1", "type": #""Auto-Renewable Subscription""#,
            "appAccountToken": #""7E3FB20B-4CDB-47CC-936D-99D65F608138""#, "inAppOwnershipType": #""PURCHASED""#,
            "signedDate": "1761130767123", "revocationDate": "1761217200000", "revocationReason": "1",
            "revocationType": #""REFUND_PRORATED""#, "revocationPercentage": "54321", "isUpgraded": "true",
            "offerType": "2", "offerIdentifier": #""retention_50off_3m""#, "offerDiscountType": #""PAY_AS_YOU_GO""#,
            "offerPeriod": #""P1M""#, "environment": #""Production""#, "storefront": #""USA""#,
            "storefrontId": #""143441""#, "transactionReason": #""RENEWAL""#, "price": "4990", "currency": #""USD""#,
            "appTransactionId": #""704897469903278336""#, "previousOriginalTransactionId": #""2000000123456700""#,
            "advancedCommerceInfo": #"{"requestReferenceId":"1"}"#, "billingPlanType": #""MONTHLY""#,
            "commitmentInfo": commitment.text, "additionalTransactionReason": #""SEAT_ADDITION""#,
            "multiSeatInfo": seats.text, "deviceVerification": #""dmVyaWZpY2F0aW9u""#,
            "deviceVerificationNonce": #""48ccfa42-7431-4f22-9908-7e88983e105a""#,
        ])

    static let commitment = SamplePayload(
        "commitmentInfo",
        [
            "billingPeriodNumber": "2", "commitmentExpiresDate": "1790000000000", "commitmentPrice": "59880",
            "totalBillingPeriods": "12",
        ])

    static let seats = SamplePayload(
        "multiSeatInfo",
        [
            "priceTiers": #"[{"price":3990,"quantity":10},{"price":4990,"quantity":2}]"#,
            "invitationManagement": #""DEVELOPER""#, "revokedSeatQuantity": "3",
        ])

    static let renewalInfo = SamplePayload(
        "renewal info",
        [
            "originalTransactionId": #""2000000123456789""#, "productId": #""com.example.app.pro.monthly""#,
            "autoRenewProductId": #""com.example.app.pro.yearly""#, "autoRenewStatus": "1", "expirationIntent": "2",
            "isInBillingRetryPeriod": "true", "gracePeriodExpiresDate": "1764000000000", "priceIncreaseStatus": "0",
            "offerType": "4", "offerIdentifier": #""winback_1m""#, "offerDiscountType": #""PAY_UP_FRONT""#,
            "offerPeriod": #""P3M""#, "renewalDate": "1763812800000", "renewalPrice": "9990", "currency": #""EUR""#,
            "recentSubscriptionStartDate": "1758538799000", "eligibleWinBackOfferIds": #"["best","second"]"#,
            "appAccountToken": #""7e3fb20b-4cdb-47cc-936d-99d65f608138""#,
            "appTransactionId": #""704897469903278336""#, "environment": #""Production""#,
            "signedDate": "1761130767150", "advancedCommerceInfo": #"{"requestReferenceId":"1"}"#,
            "commitmentInfo": commitmentRenewal.text, "renewalBillingPlanType": #""BILLED_UPFRONT""#,
            "renewalQuantity": "12", "multiSeatInfo": #"{"renewalPriceTiers":[{"price":3990,"quantity":12}]}"#,
        ])

    static let commitmentRenewal = SamplePayload(
        "commitmentInfo",
        [
            "commitmentAutoRenewProductId": #""com.example.app.pro.yearly""#, "commitmentAutoRenewStatus": "0",
            "commitmentRenewalBillingPlanType": #""MONTHLY""#, "commitmentRenewalDate": "1790000000000",
            "commitmentRenewalPrice": "59880",
        ])

    static let appTransaction = SamplePayload(
        "AppTransaction",
        [
            "receiptType": #""Production""#, "appAppleId": "1234567890", "bundleId": #""com.example.app""#,
            "applicationVersion": #""4.2""#, "versionExternalIdentifier": "867530912",
            "receiptCreationDate": "1761130767123", "originalPurchaseDate": "1698148800000",
            "originalApplicationVersion": #""1.1.2""#, "deviceVerification": #""dmVyaWZpY2F0aW9u""#,
            "deviceVerificationNonce": #""48ccfa42-7431-4f22-9908-7e88983e105a""#, "preorderDate": "1698148700000",
            "appTransactionId": #""704897469903278336""#, "originalPlatform": #""macOS""#,
        ])

    static let data = SamplePayload(
        "data",
        [
            "appAppleId": "1234567890", "bundleId": #""com.example.app""#, "bundleVersion": #""57""#,
            "environment": #""Production""#, "signedTransactionInfo": #""t.t.t""#, "signedRenewalInfo": #""r.r.r""#,
            "status": "4", "consumptionRequestReason": #""UNINTENDED_PURCHASE""#,
        ])

    static let summary = SamplePayload(
        "summary",
        [
            "requestIdentifier": #""758883e8-151b-47b7-abd0-60c4d804c2f5""#, "environment": #""Production""#,
            "appAppleId": "1234567890", "bundleId": #""com.example.app""#,
            "productId": #""com.example.app.pro.monthly""#, "storefrontCountryCodes": #"["CAN","USA"]"#,
            "succeededCount": "5", "failedCount": "2",
        ])

    static let externalPurchaseToken = SamplePayload(
        "externalPurchaseToken",
        [
            "externalPurchaseId": #""b2158121-7af9-49d4-9561-1f588205523e""#, "tokenCreationDate": "1698148950000",
            "appAppleId": "1234567890", "bundleId": #""com.example.app""#, "tokenType": #""ACQUISITION""#,
            "tokenExpirationDate": "1729771350000",
        ])

    /// Apple's page names only `unclaimSeatIds`; the other members are those of other contents.
    static func unclaimInfo(_ seats: [String]) -> SamplePayload {
        SamplePayload(
            "unclaimInfo",
            [
                "appAppleId": "1234567890", "bundleId": #""com.example.app""#, "environment": #""Production""#,
                "unclaimSeatIds": "[" + seats.map { "\"\($0)\"" }.joined(separator: ",") + "]",
            ])
    }

    static let appData = SamplePayload(
        "appData",
        [
            "appAppleId": "1234567890", "bundleId": #""com.example.app""#, "environment": #""Production""#,
            "signedAppTransactionInfo": #""a.a.a""#,
        ])

    static func notification(
        _ type: String, _ content: SamplePayload
    ) -> SamplePayload {
        SamplePayload(
            "notification with \(content.name)",
            [
                "notificationType": "\"\(type)\"", "notificationUUID": #""002e14d5-51f5-4503-b5a8-c3a1af68eb20""#,
                "version": #""2.0""#, "signedDate": "1761130767160", content.name: content.text,
            ])
    }

    static let notifications = [
        notification("DID_FAIL_TO_RENEW", data).with("subtype", #""GRACE_PERIOD""#),
        notification("RENEWAL_EXTENSION", summary).with("subtype", #""SUMMARY""#),
        notification("EXTERNAL_PURCHASE_TOKEN", externalPurchaseToken).with("subtype", #""UNREPORTED""#),
        notification("RESCIND_CONSENT", appData),
    ]

    static let retentionRequest = SamplePayload(
        "retention request",
        [
            "originalTransactionId": #""2000000123456789""#, "appAppleId": "1234567890",
            "productId": #""com.example.app.pro.monthly""#, "userLocale": #""en-US""#,
            "requestIdentifier": #""3DB5C98D-8ACF-4E29-831E-8E1F82F9F6E9""#, "environment": #""Production""#,
            "signedDate": "1761130767123",
        ])
}
