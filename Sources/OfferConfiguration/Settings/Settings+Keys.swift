package import OfferCore

extension Settings {
    static let keysGroup = SettingGroup(
        "Keys",
        settings: [
            keyID, keyFingerprint, bundleKeyIDs, privateKey, retiredKeyIDs, keysDirectory, allowReadableKeys, issuerID,
        ])

    package static let keyID = Setting<KeyID?>(
        "KEY_ID", flag: "key-id", "ID of the signing key",
        details: "It signs for every app without its own key. Without any key, the service does not start.",
        default: nil, reload: .onReload, parse: Parse.keyID)
    package static let keyFingerprint = Setting<String?>(
        "KEY_FINGERPRINT", "SHA-256 of the public half that the signing key must have",
        details: """
            64 hexadecimal digits, as `offer-signer keys list` prints them. A key with another fingerprint is \
            refused. By default, any key with the right ID is accepted.
            """, default: nil, reload: .onReload, parse: Parse.keyFingerprint)
    package static let bundleKeyIDs = Setting<[BundleID: KeyID]>(
        "BUNDLE_KEY_IDS", "Keys of individual apps",
        details: """
            The form is `com.example.a=KEYID1,com.example.b=KEYID2`. If `SUBSCRIPTION_OFFERS_KEY_ID` is not set, \
            only apps with their own key are served.
            """, default: [:], reload: .onReload, parse: Parse.bundleKeyIDs)
    package static let privateKey = Setting<Secret?>(
        "PRIVATE_KEY", "Text of the signing key",
        details: """
            Contents of the `.p8` file for `SUBSCRIPTION_OFFERS_KEY_ID`, for use without a key folder: PEM, PEM \
            with newlines written as `\\n`, or base64. An environment file with this variable must have mode \
            0600. By default, the key is read from the key folder.
            """, default: nil, isSecret: true, reload: .onReload, parse: Parse.secret)
    package static let retiredKeyIDs = Setting<Set<KeyID>>(
        "RETIRED_KEY_IDS", "Keys that never sign again",
        details: """
            The form is `KEYID1,KEYID2`. This overrides all other settings. A key that is removed from the list \
            can sign again only after a restart.
            """, default: [], reload: .onReload, parse: Parse.keyIDs)
    package static let keysDirectory = Setting<String?>(
        "KEYS_DIR", flag: "keys-dir", "Folder with the SubscriptionKey_<KEYID>.p8 files",
        details: "If you set this variable, the folder must exist.", default: nil, "keys", reload: .onReload,
        parse: Parse.path)
    package static let allowReadableKeys = Setting<Bool>(
        "ALLOW_READABLE_KEYS", flag: "allow-readable-keys",
        "Accept key files that other users can read, as container secrets often are",
        details: "This also applies to files with a salt.", isSwitch: .onReload)
    package static let issuerID = Setting<IssuerID?>(
        "ISSUER_ID", flag: "issuer-id", "Issuer ID of the team, which every JWS contains",
        details: """
            It applies to every app without its own issuer ID. App Store Connect shows it above the In-App Purchase \
            keys. Without it, no JWS is made.
            """, default: nil, reload: .onReload, parse: Parse.issuerID)
}
