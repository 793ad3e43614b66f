package import OfferCore
package import OfferHTTP

extension Settings {
    static let linksGroup = SettingGroup(
        "Campaign links",
        introduction: """
            [Links](links.md) lead customers from a mailing to an offer in the app. The campaigns are in \
            [the configuration file](links.md#set-up-a-campaign).
            """,
        settings: [linksAddress, linksURL, linksKey])

    package static let linksAddress = Setting<ListeningAddress?>(
        "LINKS_ADDRESS", flag: "links-address",
        "Address and port that serve the pages of links, such as 0.0.0.0:8444",
        details: """
            It serves only `/.well-known/apple-app-site-association`, the pages below `/o/` and `/health/live`. It uses the \
            certificate of the main address if there is one.
            """, default: nil, "no pages", reload: .onRestart, parse: Parse.listeningAddress)
    package static let linksURL = Setting<ConsoleOrigin?>(
        "LINKS_URL", "Scheme and host of links, such as https://go.example.com",
        details: "`offer-signer links make` needs it. The host must be one of the app's associated domains.",
        default: nil,
        reload: .onRestart, parse: Parse.linkOrigin)
    package static let linksKey = Setting<Secret?>(
        "LINKS_KEY", "Key of the codes that protect personal links against guessing",
        details: """
            At least 16 random bytes. Without it, campaigns have no personal links. A new key ends all personal links that \
            were sent.
            """, default: nil, isSecret: true, reload: .onRestart, parse: Parse.longSecret)
}
