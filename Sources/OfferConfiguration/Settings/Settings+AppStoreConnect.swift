package import OfferCore

extension Settings {
    static let appStoreConnectGroup = SettingGroup(
        "App Store Connect",
        introduction: """
            With a key for the App Store Connect API, the service [compares the catalogue](catalogue.md) with App Store \
            Connect every six hours. It only reads.
            """,
        settings: [
            appStoreConnectKeyFile, appStoreConnectKey, appStoreConnectKeyID, appStoreConnectIssuerID,
            appStoreConnectURL,
        ])

    package static let appStoreConnectKeyFile = Setting<String?>(
        "APP_STORE_CONNECT_KEY_FILE", "File of the key for the App Store Connect API, such as AuthKey_<KEYID>.p8",
        details: "Keep it out of the folder of signing keys. Without a key, nothing is read from App Store Connect.",
        default: nil, reload: .onRestart, parse: Parse.path)
    package static let appStoreConnectKey = Setting<Secret?>(
        "APP_STORE_CONNECT_KEY", "Text of that key, in place of its file",
        details: """
            PEM, PEM with newlines written as `\\n`, or base64. An environment file with this variable must have mode 0600.
            """, default: nil, isSecret: true, reload: .onRestart, parse: Parse.secret)
    package static let appStoreConnectKeyID = Setting<KeyID?>(
        "APP_STORE_CONNECT_KEY_ID", "ID of that key", default: nil, "from the name of the file", reload: .onRestart,
        parse: Parse.keyID)
    package static let appStoreConnectIssuerID = Setting<IssuerID?>(
        "APP_STORE_CONNECT_ISSUER_ID", "Issuer ID of a team key for the App Store Connect API",
        details: "App Store Connect shows it above the team keys. An individual key has none.", default: nil,
        reload: .onRestart, parse: Parse.issuerID)
    package static let appStoreConnectURL = Setting<String?>(
        "APP_STORE_CONNECT_URL", "Base URL of the App Store Connect API",
        details:
            "The token is sent to no other host. The certificates of `SUBSCRIPTION_OFFERS_APP_STORE_API_ROOTS` are trusted too.",
        default: nil, "https://api.appstoreconnect.apple.com", reload: .onRestart, parse: Parse.baseURL)
}
