import OfferCore
import OfferEligibility
import Testing

@testable import AppStoreData
@testable import AppStoreTestSupport

@Suite("Payloads")
struct DecodingTests {
    @Test("every member of a transaction is read")
    func transaction() throws {
        let transaction = try SignedTransaction(json: SamplePayload.transaction.json)
        #expect(transaction.transactionID.text.description == "2000000987654321")
        #expect(transaction.originalTransactionID.text.description == "2000000123456789")
        #expect(transaction.bundleID.text.description == "com.example.app")
        #expect(transaction.productID.text.description == "com.example.app.pro.monthly")
        #expect(transaction.purchaseDate.milliseconds == 1_761_130_800_000)
        #expect(transaction.signedDate.milliseconds == 1_761_130_767_123)
        #expect(transaction.environment == .production)
        #expect(transaction.type == .autoRenewableSubscription)
        #expect(transaction.quantity == 1)
        #expect(transaction.originalPurchaseDate?.milliseconds == 1_758_538_800_000)
        #expect(transaction.expiresDate?.milliseconds == 1_763_812_800_000)
        #expect(transaction.webOrderLineItemID == "2000000054321098")
        #expect(transaction.subscriptionGroupID == "21012345")
        #expect(transaction.appAccountToken?.description == "7e3fb20b-4cdb-47cc-936d-99d65f608138")
        #expect(transaction.appTransactionID?.text.description == "704897469903278336")
        #expect(transaction.ownership == .purchased)
        #expect(transaction.reason == .renewal)
        #expect(
            transaction.offer
                == AppliedOffer(
                    type: .promotional, identifier: "retention_50off_3m", discountType: .payAsYouGo, period: "P1M"))
        #expect(
            transaction.revocation
                == Revocation(
                    date: Timestamp(milliseconds: 1_761_217_200_000), reason: .appIssue, type: .proratedRefund,
                    percentage: 54321))
        #expect(transaction.isUpgraded)
        #expect(transaction.price == 4990)
        #expect(transaction.currency == "USD")
        #expect(transaction.storefront == "USA")
        #expect(transaction.storefrontID == "143441")
        #expect(transaction.billingPlanType == .monthly)
        #expect(transaction.commitment?.billingPeriodNumber == 2)
        #expect(transaction.commitment?.totalBillingPeriods == 12)
        #expect(transaction.commitment?.expiresDate?.milliseconds == 1_790_000_000_000)
        #expect(transaction.commitment?.price == 59880)
        #expect(transaction.additionalTransactionReason == .seatAddition)
        #expect(
            transaction.seats
                == Seats(
                    priceTiers: [PriceTier(price: 3990, quantity: 10), PriceTier(price: 4990, quantity: 2)],
                    invitationManagement: .developer, revokedQuantity: 3))
        #expect(transaction.previousOriginalTransactionID?.text.description == "2000000123456700")
        #expect(transaction.advancedCommerceInfo?["requestReferenceId"] == .string(Array("1".utf8)))
        #expect(transaction.deviceVerification == "dmVyaWZpY2F0aW9u")
        #expect(transaction.deviceVerificationNonce == "48ccfa42-7431-4f22-9908-7e88983e105a")
        #expect(transaction.json == SamplePayload.transaction.json)
    }

    @Test("every member of renewal info is read")
    func renewalInfo() throws {
        let info = try RenewalInfo(json: SamplePayload.renewalInfo.json)
        #expect(info.originalTransactionID.text.description == "2000000123456789")
        #expect(info.productID.text.description == "com.example.app.pro.monthly")
        #expect(info.autoRenewProductID?.text.description == "com.example.app.pro.yearly")
        #expect(info.autoRenewStatus == .on)
        #expect(info.signedDate.milliseconds == 1_761_130_767_150)
        #expect(info.environment == .production)
        #expect(info.expirationIntent == .billingError)
        #expect(info.isInBillingRetryPeriod == true)
        #expect(info.gracePeriodExpiresDate?.milliseconds == 1_764_000_000_000)
        #expect(info.priceIncreaseStatus == .unanswered)
        #expect(
            info.offer
                == AppliedOffer(
                    type: .winBack, identifier: "winback_1m", discountType: .payUpFront, period: "P3M"))
        #expect(info.renewalDate?.milliseconds == 1_763_812_800_000)
        #expect(info.renewalPrice == 9990)
        #expect(info.currency == "EUR")
        #expect(info.recentSubscriptionStartDate?.milliseconds == 1_758_538_799_000)
        #expect(info.eligibleWinBackOfferIDs == ["best", "second"])
        #expect(info.appAccountToken?.description == "7e3fb20b-4cdb-47cc-936d-99d65f608138")
        #expect(info.appTransactionID?.text.description == "704897469903278336")
        #expect(info.renewalBillingPlanType == .billedUpFront)
        #expect(info.commitment?.autoRenewProductID?.text.description == "com.example.app.pro.yearly")
        #expect(info.commitment?.autoRenewStatus == .off)
        #expect(info.commitment?.billingPlanType == .monthly)
        #expect(info.commitment?.date?.milliseconds == 1_790_000_000_000)
        #expect(info.commitment?.price == 59880)
        #expect(info.renewalQuantity == 12)
        #expect(info.renewalPriceTiers == [PriceTier(price: 3990, quantity: 12)])
        #expect(info.advancedCommerceInfo?["requestReferenceId"] == .string(Array("1".utf8)))
        #expect(info.json == SamplePayload.renewalInfo.json)
    }

    @Test("price tiers have no order")
    func tierOrder() throws {
        let swapped = #"{"priceTiers":[{"price":4990,"quantity":2},{"quantity":10,"price":3990}]}"#
        let transaction = try SignedTransaction(json: SamplePayload.transaction.with("multiSeatInfo", swapped).json)
        #expect(transaction.seats?.priceTiers.map(\.price) == [3990, 4990])
    }

    @Test(
        "members that Apple has documented only in part refuse nothing, whatever their shape",
        arguments: ["7", "[]", #""text""#, "true", #"{"priceTiers":"x","renewalPriceTiers":[1]}"#])
    func tentativeMembers(value: String) throws {
        for member in ["multiSeatInfo", "additionalTransactionReason"] {
            let transaction = try SignedTransaction(json: SamplePayload.transaction.with(member, value).json)
            #expect(member != "multiSeatInfo" || transaction.seats == nil)
        }
        for member in ["multiSeatInfo", "renewalQuantity"] {
            let info = try RenewalInfo(json: SamplePayload.renewalInfo.with(member, value).json)
            #expect(member != "multiSeatInfo" || info.renewalPriceTiers == [])
        }
    }

    @Test("an identifier that is an empty string counts as absent")
    func emptyIdentifiers() throws {
        var sample = SamplePayload.transaction
        for name in [
            "appAccountToken", "appTransactionId", "webOrderLineItemId", "subscriptionGroupIdentifier",
            "offerIdentifier", "offerPeriod", "storefront", "storefrontId", "currency", "previousOriginalTransactionId",
        ] {
            sample = sample.with(name, "\"\"")
        }
        let transaction = try SignedTransaction(json: sample.json)
        #expect(transaction.appAccountToken == nil && transaction.appTransactionID == nil)
        #expect(transaction.webOrderLineItemID == nil && transaction.subscriptionGroupID == nil)
        #expect(transaction.offer?.type == .promotional)
        #expect(transaction.offer?.identifier == nil && transaction.offer?.period == nil)
        #expect(transaction.storefront == nil && transaction.storefrontID == nil && transaction.currency == nil)
        #expect(transaction.previousOriginalTransactionID == nil)
        #expect(transaction.productID.text.description == "com.example.app.pro.monthly")

        var renewal = SamplePayload.renewalInfo
        for name in ["appAccountToken", "appTransactionId", "autoRenewProductId", "offerIdentifier", "currency"] {
            renewal = renewal.with(name, "\"\"")
        }
        let info = try RenewalInfo(json: renewal.json)
        #expect(info.appAccountToken == nil && info.appTransactionID == nil && info.autoRenewProductID == nil)
        #expect(info.offer?.type == .winBack && info.offer?.identifier == nil && info.currency == nil)
        #expect(info.autoRenewStatus == .on)

        let app = try AppTransaction(json: SamplePayload.appTransaction.with("appTransactionId", "\"\"").json)
        #expect(app.appTransactionID == nil)
    }

    @Test(
        "an appAccountToken that is no UUID is left out, and the rest is read", arguments: ["user-17", " ", "7e3fb20b"])
    func otherAccountToken(text: String) throws {
        let json = "\"\(text)\""
        let transaction = try SignedTransaction(json: SamplePayload.transaction.with("appAccountToken", json).json)
        #expect(transaction.appAccountToken == nil && transaction.appTransactionID != nil)
        let info = try RenewalInfo(json: SamplePayload.renewalInfo.with("appAccountToken", json).json)
        #expect(info.appAccountToken == nil && info.appTransactionID != nil)
    }

    @Test("a required identifier must not be empty", arguments: ["transactionId", "bundleId", "productId"])
    func emptyRequired(name: String) {
        let error = #expect(throws: PayloadError.self) {
            try SignedTransaction(json: SamplePayload.transaction.with(name, "\"\"").json)
        }
        #expect(error?.member == name)
    }

    @Test("every member of an AppTransaction is read")
    func appTransaction() throws {
        let app = try AppTransaction(json: SamplePayload.appTransaction.json)
        #expect(app.environment == .production)
        #expect(app.bundleID.text.description == "com.example.app")
        #expect(app.receiptCreationDate.milliseconds == 1_761_130_767_123)
        #expect(app.appAppleID == 1_234_567_890)
        #expect(app.applicationVersion == "4.2")
        #expect(app.versionExternalIdentifier == 867_530_912)
        #expect(app.originalPurchaseDate?.milliseconds == 1_698_148_800_000)
        #expect(app.originalApplicationVersion == "1.1.2")
        #expect(app.originalPlatform == .macOS)
        #expect(app.preorderDate?.milliseconds == 1_698_148_700_000)
        #expect(app.appTransactionID?.text.description == "704897469903278336")
        #expect(app.deviceVerification == "dmVyaWZpY2F0aW9u")
        #expect(app.deviceVerificationNonce == "48ccfa42-7431-4f22-9908-7e88983e105a")
        #expect(app.json == SamplePayload.appTransaction.json)
    }

    @Test("every member of a retention message request is read")
    func retentionRequest() throws {
        let request = try RetentionRequest(json: SamplePayload.retentionRequest.json)
        #expect(request.originalTransactionID.text.description == "2000000123456789")
        #expect(request.appAppleID == 1_234_567_890)
        #expect(request.productID.text.description == "com.example.app.pro.monthly")
        #expect(request.userLocale == "en-US")
        #expect(request.requestIdentifier.description == "3db5c98d-8acf-4e29-831e-8e1f82f9f6e9")
        #expect(request.environment == .production)
        #expect(request.signedDate.milliseconds == 1_761_130_767_123)
        #expect(request.json == SamplePayload.retentionRequest.json)
    }

    @Test("every member of a notification about a purchase is read")
    func notification() throws {
        let sample = SamplePayload.notifications[0]
        let notification = try AppStoreNotification(json: sample.json)
        #expect(notification.type == .didFailToRenew)
        #expect(notification.subtype == .gracePeriod)
        #expect(notification.notificationUUID.description == "002e14d5-51f5-4503-b5a8-c3a1af68eb20")
        #expect(notification.version == "2.0")
        #expect(notification.signedDate.milliseconds == 1_761_130_767_160)
        #expect(notification.json == sample.json)
        guard case .data(let data) = notification.content else { throw CancellationError() }
        #expect(data.bundleID.text.description == "com.example.app")
        #expect(data.appAppleID == 1_234_567_890)
        #expect(data.environment == .production)
        #expect(data.bundleVersion == "57")
        #expect(data.signedTransactionInfo == Array("t.t.t".utf8))
        #expect(data.signedRenewalInfo == Array("r.r.r".utf8))
        #expect(data.status == .billingGracePeriod)
        #expect(data.consumptionRequestReason == .unintendedPurchase)
    }

    @Test("every member of the other contents of a notification is read")
    func otherContents() throws {
        guard
            case .summary(let summary) = try AppStoreNotification(json: SamplePayload.notifications[1].json).content,
            case .externalPurchaseToken(let token) = try AppStoreNotification(
                json: SamplePayload.notifications[2].json
            ).content,
            case .appData(let app) = try AppStoreNotification(json: SamplePayload.notifications[3].json).content
        else { throw CancellationError() }
        #expect(summary.bundleID.text.description == "com.example.app")
        #expect(summary.appAppleID == 1_234_567_890)
        #expect(summary.environment == .production)
        #expect(summary.requestIdentifier == "758883e8-151b-47b7-abd0-60c4d804c2f5")
        #expect(summary.productID?.text.description == "com.example.app.pro.monthly")
        #expect(summary.storefrontCountryCodes == ["CAN", "USA"])
        #expect(summary.succeededCount == 5)
        #expect(summary.failedCount == 2)
        #expect(token.bundleID.text.description == "com.example.app")
        #expect(token.appAppleID == 1_234_567_890)
        #expect(token.externalPurchaseID == "b2158121-7af9-49d4-9561-1f588205523e")
        #expect(token.tokenCreationDate?.milliseconds == 1_698_148_950_000)
        #expect(token.tokenExpirationDate?.milliseconds == 1_729_771_350_000)
        #expect(token.tokenType == "ACQUISITION")
        #expect(app.bundleID.text.description == "com.example.app")
        #expect(app.appAppleID == 1_234_567_890)
        #expect(app.environment == .production)
        #expect(app.signedAppTransactionInfo == Array("a.a.a".utf8))
    }

    @Test("data of Xcode has fractional times, an identifier of 0 and a date in the year 1")
    func xcode() throws {
        let transaction = try SignedTransaction(
            json: Array(
                #"""
                {"transactionId":"0","originalTransactionId":"0","webOrderLineItemId":"0","bundleId":"com.example.garden",
                "productId":"pass.premium","subscriptionGroupIdentifier":"6F3A93AB","purchaseDate":1697679936049.7297,
                "originalPurchaseDate":1697679936049.7297,"expiresDate":1700358336049.7297,"quantity":1,
                "type":"Auto-Renewable Subscription","inAppOwnershipType":"PURCHASED","signedDate":1697679936056.485,
                "isUpgraded":false,"offerType":1,"environment":"Xcode","storefront":"USA","storefrontId":"143441",
                "transactionReason":"PURCHASE"}
                """#.utf8))
        #expect(transaction.purchaseDate.milliseconds == 1_697_679_936_049)
        #expect(transaction.signedDate.milliseconds == 1_697_679_936_056)
        #expect(!transaction.isUpgraded)
        #expect(transaction.offer == AppliedOffer(type: .introductory))
        let app = try AppTransaction(
            json: SamplePayload.appTransaction.with("receiptType", #""Xcode""#)
                .with("originalPurchaseDate", "-62135769600000").with("receiptCreationDate", "1697679936056.485")
                .with("requestDate", "1697679936056.485").json)
        #expect(app.originalPurchaseDate?.milliseconds == -62_135_769_600_000)
        #expect(app.receiptCreationDate.milliseconds == 1_697_679_936_056)
        let info = try RenewalInfo(
            json: SamplePayload.renewalInfo.with("environment", #""Xcode""#).with("renewalDate", "1700358336049.7297")
                .with("deviceVerification", #""dmVyaWZpY2F0aW9u""#).json)
        #expect(info.renewalDate?.milliseconds == 1_700_358_336_049)
    }

    @Test("renewal info of a cancelled and of an expired subscription may lack the price and the reason")
    func sparseRenewalInfo() throws {
        let sample = SamplePayload.renewalInfo.with("autoRenewStatus", "0").with("isInBillingRetryPeriod", "false")
            .without("renewalPrice", "currency", "expirationIntent")
        let info = try RenewalInfo(json: sample.json)
        #expect(info.autoRenewStatus == .off)
        #expect(info.isInBillingRetryPeriod == false)
        #expect(info.renewalPrice == nil && info.currency == nil && info.expirationIntent == nil)
    }

    @Test("a TEST notification has no transaction, and no Apple ID in the sandbox")
    func testNotification() throws {
        let data = SamplePayload.data.keeping(["bundleId", "environment"]).with("environment", #""Sandbox""#)
        let notification = try AppStoreNotification(json: SamplePayload.notification("TEST", data).json)
        #expect(notification.type == .test)
        #expect(notification.subtype == nil)
        guard case .data(let found) = notification.content else { throw CancellationError() }
        #expect(found.signedTransactionInfo == nil && found.appAppleID == nil && found.status == nil)
    }
}
