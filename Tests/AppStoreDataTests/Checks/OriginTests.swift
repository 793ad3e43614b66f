import AppStoreData
import OfferCore
import OfferEligibility
import Testing

@testable import AppStoreTestSupport

@Suite("Origin of App Store data")
struct OriginTests {
    static func bundle(_ text: String) throws -> BundleID { try BundleID(utf8: Array(text.utf8)) }

    static func app(
        _ bundleID: String = "com.example.app", _ appAppleID: Int64? = 1_234_567_890,
        _ environments: Set<AppStoreEnvironment>? = nil, isDevelopment: Bool = false
    ) throws -> ExpectedApp {
        try ExpectedApp(
            bundleID: bundle(bundleID), appAppleID: appAppleID, environments: environments,
            isDevelopment: isDevelopment)
    }

    private static func failure(_ origin: PayloadOrigin, _ app: ExpectedApp) -> CheckFailure? {
        do {
            try app.expectedOrigin.check(origin)
            return nil
        } catch { return error }
    }

    @Test("each kind is checked for what it carries, the app before the environment")
    func checks() throws {
        let production = try Self.app("com.example.app", 1, [.production])
        let own = try Self.bundle("com.example.app")
        let other = try Self.bundle("com.example.other")
        for (kind, bundleID, id, environment, failure) in [
            // Transactions: bundle ID and environment.
            (.transaction, own, nil, .production, nil),
            (.transaction, other, nil, .production, .anotherBundleID),
            (.transaction, other, nil, .sandbox, .anotherBundleID),
            (.transaction, nil, nil, .sandbox, .bundleIDMissing),
            (.transaction, own, 2, .production, nil),
            (.transaction, own, nil, .sandbox, .environmentNotAccepted),
            (.transaction, own, nil, nil, .environmentMissing),
            (.transaction, own, nil, AppStoreEnvironment(rawValue: "production"), .environmentNotAccepted),
            // Renewal info: environment alone.
            (.renewalInfo, nil, nil, .production, nil),
            (.renewalInfo, nil, nil, .sandbox, .environmentNotAccepted),
            (.renewalInfo, nil, nil, nil, .environmentMissing),
            // AppTransactions and notifications: everything, but the Apple ID in production only.
            (.appTransaction, own, 1, .production, nil),
            (.appTransaction, own, 2, .production, .anotherAppAppleID),
            (.appTransaction, own, nil, .production, .appAppleIDMissing),
            (.appTransaction, other, 2, .production, .anotherBundleID),
            (.appTransaction, own, 2, .sandbox, .environmentNotAccepted),
            (.notification, own, 1, .production, nil),
            (.notification, own, 2, .production, .anotherAppAppleID),
            (.notification, own, nil, .production, .appAppleIDMissing),
            (.notification, other, 1, .sandbox, .anotherBundleID),
            (.notification, nil, 1, .production, .bundleIDMissing),
            (.notification, own, nil, .sandbox, .environmentNotAccepted),
            (.notification, own, nil, nil, .environmentMissing),
            // Retention message requests: Apple ID in production, and environment.
            (.retentionRequest, nil, 1, .production, nil),
            (.retentionRequest, nil, 2, .production, .anotherAppAppleID),
            (.retentionRequest, nil, 2, .sandbox, .environmentNotAccepted),
        ] as [(PayloadKind, BundleID?, Int64?, AppStoreEnvironment?, CheckFailure?)] {
            let origin = PayloadOrigin(kind, bundleID: bundleID, appAppleID: id, environment: environment)
            #expect(Self.failure(origin, production) == failure, "\(kind) \(String(describing: environment))")
        }
    }

    @Test("trap 9: in the sandbox the app's Apple ID may be missing or another")
    func sandbox() throws {
        let app = try Self.app()
        for id in [nil, 0, 2, 1_234_567_890] as [Int64?] {
            let origin = PayloadOrigin(
                .notification, bundleID: app.bundleID, appAppleID: id, environment: .sandbox)
            #expect(Self.failure(origin, app) == nil)
        }
    }

    @Test("what is not expected is not checked")
    func unchecked() throws {
        let origin = PayloadOrigin(.appTransaction, environment: nil)
        try ExpectedOrigin().check(origin)
        #expect(throws: CheckFailure.environmentMissing) { try ExpectedOrigin(environments: [.sandbox]).check(origin) }
        #expect(throws: CheckFailure.bundleIDMissing) {
            try ExpectedOrigin(bundleID: try Self.bundle("a")).check(origin)
        }
    }

    @Test("each payload says where it comes from")
    func origins() throws {
        let bundleID = try Self.bundle("com.example.app")
        let id: Int64 = 1_234_567_890
        #expect(
            try SignedTransaction(json: SamplePayload.transaction.json).origin
                == PayloadOrigin(.transaction, bundleID: bundleID, environment: .production))
        #expect(
            try RenewalInfo(json: SamplePayload.renewalInfo.json).origin
                == PayloadOrigin(.renewalInfo, environment: .production))
        #expect(
            try AppTransaction(json: SamplePayload.appTransaction.json).origin
                == PayloadOrigin(.appTransaction, bundleID: bundleID, appAppleID: id, environment: .production))
        #expect(
            try RetentionRequest(json: SamplePayload.retentionRequest.json).origin
                == PayloadOrigin(.retentionRequest, appAppleID: id, environment: .production))
        for sample in SamplePayload.notifications {
            #expect(
                try AppStoreNotification(json: sample.json).origin
                    == PayloadOrigin(.notification, bundleID: bundleID, appAppleID: id, environment: .production))
        }
        let unknown = SamplePayload.notifications[0].without("data")
        #expect(
            try AppStoreNotification(json: unknown.json).origin == PayloadOrigin(.notification, environment: nil))
    }

    @Test(
        "the environment of an external purchase token is in its text",
        arguments: [
            ("SANDBOX_b2158121-7af9", .sandbox), ("SANDBOX", .sandbox), ("b2158121-7af9", .production),
            ("sandbox_b2158121", .production), ("bSANDBOX", .production), ("", .production),
        ] as [(String, AppStoreEnvironment)])
    func externalPurchaseToken(text: String, environment: AppStoreEnvironment) throws {
        let token = SamplePayload.externalPurchaseToken.with("externalPurchaseId", "\"\(text)\"")
        let notification = try AppStoreNotification(
            json: SamplePayload.notification("EXTERNAL_PURCHASE_TOKEN", token).json)
        #expect(notification.origin.environment == environment)
    }

    @Test("an app is served in both environments of Apple if its Apple ID is known, else in the sandbox")
    func defaults() throws {
        #expect(try Self.app().environments == [.production, .sandbox])
        #expect(try Self.app("com.example.app", nil).environments == [.sandbox])
    }

    @Test("an app whose data could not be checked is not configured")
    func wrongApps() throws {
        for (id, environments, isDevelopment, error) in [
            (nil, [.production], false, .appAppleIDNeeded), (nil, [.production, .xcode], true, .appAppleIDNeeded),
            (1, [], true, .noEnvironment), (0, nil, false, .appAppleIDNotPositive),
            (-1, nil, false, .appAppleIDNotPositive), (1, [.xcode], false, .developmentOnly(.xcode)),
            (1, [.localTesting], false, .developmentOnly(.localTesting)),
            (1, [AppStoreEnvironment(rawValue: "Staging")], true, .unknownEnvironment),
        ] as [(Int64?, Set<AppStoreEnvironment>?, Bool, ExpectedAppError)] {
            #expect(throws: error) {
                try Self.app("com.example.app", id, environments, isDevelopment: isDevelopment)
            }
        }
        _ = try Self.app("com.example.app", nil, [.xcode, .localTesting, .sandbox], isDevelopment: true)
    }

    @Test("two apps have different bundle IDs and Apple IDs")
    func duplicates() throws {
        let app = try Self.app()
        #expect(throws: ExpectedAppError.duplicateBundleID(app.bundleID)) { try ExpectedApps([app, app]) }
        #expect(throws: ExpectedAppError.duplicateAppAppleID(1_234_567_890)) {
            try ExpectedApps([app, Self.app("com.example.other")])
        }
    }

    @Test("the app is found by its bundle ID, and then checked")
    func lookup() throws {
        let one = try Self.app("com.example.app", 1)
        let two = try Self.app("com.example.two", 2, [.production])
        let apps = try ExpectedApps([one, two])
        #expect(apps[one.bundleID] == one && apps[two.bundleID] == two)
        #expect(try apps.check(PayloadOrigin(.transaction, bundleID: two.bundleID, environment: .production)) == two)
        #expect(throws: CheckFailure.environmentNotAccepted) {
            try apps.check(PayloadOrigin(.transaction, bundleID: two.bundleID, environment: .sandbox))
        }
        #expect(throws: CheckFailure.anotherAppAppleID) {
            try apps.check(
                PayloadOrigin(.notification, bundleID: two.bundleID, appAppleID: 1, environment: .production))
        }
        #expect(throws: CheckFailure.anotherBundleID) {
            try apps.check(PayloadOrigin(.transaction, bundleID: Self.bundle("com.example"), environment: .production))
        }
        #expect(throws: CheckFailure.bundleIDMissing) {
            try apps.check(PayloadOrigin(.notification, environment: .production))
        }
        // Renewal info names no app.
        #expect(throws: CheckFailure.appAppleIDMissing) {
            try apps.check(PayloadOrigin(.renewalInfo, environment: .production))
        }
    }

    @Test("the app of a retention message request is found by its Apple ID")
    func retention() throws {
        let one = try Self.app("com.example.app", 1)
        let new = try Self.app("com.example.new", nil)
        let newer = try Self.app("com.example.newer", nil)
        func origin(_ id: Int64?, _ environment: AppStoreEnvironment) -> PayloadOrigin {
            PayloadOrigin(.retentionRequest, appAppleID: id, environment: environment)
        }
        let apps = try ExpectedApps([one, new])
        #expect(try apps.check(origin(1, .production)) == one)
        #expect(try apps.check(origin(1, .sandbox)) == one)
        #expect(try apps.check(origin(2, .sandbox)) == new)
        #expect(throws: CheckFailure.anotherAppAppleID) { try apps.check(origin(2, .production)) }
        #expect(throws: CheckFailure.anotherAppAppleID) { try ExpectedApps([one]).check(origin(2, .sandbox)) }
        #expect(throws: CheckFailure.anotherAppAppleID) {
            try ExpectedApps([one, new, newer]).check(origin(2, .sandbox))
        }
        #expect(throws: CheckFailure.environmentNotAccepted) { try apps.check(origin(2, .xcode)) }
    }

    @Test("failures carry a stable code and a sentence")
    func failures() {
        for failure in CheckFailure.allCases {
            #expect(failure.code.allSatisfy { $0 == "_" || $0.isLowercase })
            #expect(failure.sentence.hasSuffix("."))
        }
    }
}
