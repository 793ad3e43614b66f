extension Settings {
    // MARK: App Store data

    static let appStoreDataGroup = SettingGroup(
        "App Store data",
        introduction: """
            Requests can carry [proofs](api.md#proofs): data that the App Store signed. These settings determine which \
            signatures are trusted.
            """,
        settings: [appStoreRoots, ocsp])

    package static let appStoreRoots = Setting<String?>(
        "APP_STORE_ROOTS",
        "File or folder of root certificates, in PEM or DER, to trust for App Store data in place of Apple's; for tests and Xcode",
        details: """
            Anyone with their keys can forge purchases, so the log, `/health/ready` and `offer-signer doctor` \
            report this setting.
            """, default: nil, "Apple's roots, which are built in", reload: .onRestart, parse: Parse.path)
    package static let ocsp = Setting<OCSPMode?>(
        "OCSP", "Check with Apple's OCSP responders whether certificates of App Store data are revoked: on or off",
        details: "Answers are cached until they expire. Requests with proofs never wait for them; notifications do.",
        default: nil,
        "on; off with roots of your own", reload: .onRestart, parse: Parse.optionalChoice)

    // MARK: App Store Server API

    static let appStoreAPIGroup = SettingGroup(
        "App Store Server API",
        introduction: """
            These settings control how the service [queries the App Store](app-store.md#the-app-store-server-api). If \
            there is a database, it does so for each app that has a key and an issuer ID.
            """,
        settings: [
            appStoreAPI, appStoreAPIURL, appStoreSandboxAPIURL, verifyReceiptURL, sandboxVerifyReceiptURL,
            appStoreAPIRoots, appStoreWaitMilliseconds,
        ])

    package static let appStoreAPI = Setting<AppStoreAPIMode?>(
        "APP_STORE_API",
        "Query the App Store about subscriptions, missed notifications and unknown customers: on or off", default: nil,
        "on; off with roots of your own, unless a URL is set, and with --development", reload: .onRestart,
        parse: Parse.optionalChoice)
    package static let appStoreAPIURL = Setting<String?>(
        "APP_STORE_API_URL", "Base URL of the App Store Server API",
        details: "`http` is permitted only on this machine.", default: nil, "https://api.storekit.apple.com",
        reload: .onRestart, parse: Parse.baseURL)
    package static let appStoreSandboxAPIURL = Setting<String?>(
        "APP_STORE_SANDBOX_API_URL", "Base URL of the App Store Server API of the sandbox", default: nil,
        "https://api.storekit-sandbox.apple.com", reload: .onRestart, parse: Parse.baseURL)
    package static let verifyReceiptURL = Setting<String?>(
        "VERIFY_RECEIPT_URL", "Base URL of the legacy receipt service",
        details: "This is Apple's `verifyReceipt`.", default: nil, "https://buy.itunes.apple.com",
        reload: .onRestart, parse: Parse.baseURL)
    package static let sandboxVerifyReceiptURL = Setting<String?>(
        "SANDBOX_VERIFY_RECEIPT_URL", "Base URL of the legacy receipt service of the sandbox", default: nil,
        "https://sandbox.itunes.apple.com", reload: .onRestart, parse: Parse.baseURL)
    package static let appStoreAPIRoots = Setting<String?>(
        "APP_STORE_API_ROOTS",
        "File or folder of certificates, in PEM or DER, to trust for the servers at these URLs, beside the system's; for tests",
        default: nil, reload: .onRestart, parse: Parse.path)
    package static let appStoreWaitMilliseconds = Setting<Int>(
        "APP_STORE_WAIT_MS", "Milliseconds for which a request waits for the App Store",
        details: """
            From 0 to 5000. A decision or a look-up waits if the database has too little data about the customer. An \
            offer without a rule never waits.
            """, default: 800, "800", reload: .onRestart, parse: Parse.waitMilliseconds)
}
