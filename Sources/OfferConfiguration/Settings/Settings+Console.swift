package import OfferCore
package import OfferHTTP

extension Settings {
    static let consoleGroup = SettingGroup(
        "Console",
        introduction: """
            [The console](console.md) shows customers, offers, alarms and health to people in a browser. It is off until \
            it has an address. It needs [a database](database.md) for its sessions, and [an audit trail](audit.md) that \
            records who looked at whom.
            """,
        settings: [
            consoleAddress, consoleURL, consoleIssuer, consoleClientID, consoleClientSecret, consoleRoleClaim,
            consoleRoles, consoleIssuerRoots,
        ])

    package static let consoleAddress = Setting<ListeningAddress?>(
        "CONSOLE_ADDRESS", flag: "console-address",
        "Address and port that serve the console, such as 127.0.0.1:8081",
        details: "It serves nothing else. It uses the certificate of the main address if there is one.", default: nil,
        "no console", reload: .onRestart, parse: Parse.listeningAddress)
    package static let consoleURL = Setting<ConsoleOrigin?>(
        "CONSOLE_URL", flag: "console-url",
        "Scheme and host under which browsers reach the console, such as https://offers.example.com",
        details: """
            Required unless the console's address is a loopback address. Browsers may send forms only from this \
            origin, and sign-in links lead to it.
            """, default: nil, "the console's address", reload: .onRestart, parse: Parse.consoleOrigin)
    package static let consoleIssuer = Setting<String?>(
        "CONSOLE_ISSUER", "URL of the identity provider (OpenID Connect) at which people sign in",
        details: """
            Exactly as in the provider's discovery document, such as https://id.example.com. Register \
            `/sign-in/return` below the console's URL there. Without it, people sign in with links from \
            `offer-signer console sign-in`.
            """, default: nil, "sign-in links only", reload: .onRestart, parse: Parse.optionalText)
    package static let consoleClientID = Setting<String?>(
        "CONSOLE_CLIENT_ID", "Client ID of the console at the identity provider", default: nil, reload: .onRestart,
        parse: Parse.optionalText)
    package static let consoleClientSecret = Setting<Secret?>(
        "CONSOLE_CLIENT_SECRET", "Client secret of the console at the identity provider",
        details: "Without it, the console is a public client, which only PKCE protects.", default: nil, isSecret: true,
        reload: .onRestart, parse: Parse.secret)
    package static let consoleRoleClaim = Setting<String>(
        "CONSOLE_ROLE_CLAIM", "Claim of the ID token whose values give roles",
        details: "A text or a list of texts, at the top level of the token.", default: "groups", "groups",
        reload: .onRestart, parse: Parse.text)
    package static let consoleRoles = Setting<[String: [String]]>(
        "CONSOLE_ROLES", "Values of the claim that give each role, such as support=helpdesk,operator=sre",
        details: """
            The roles are `support`, `marketing`, `operator` and `auditor`. A role can have several values: \
            `support=helpdesk,support=agents`. A person without a role cannot sign in.
            """, default: [:], reload: .onRestart, parse: Parse.consoleRoles)
    package static let consoleIssuerRoots = Setting<String?>(
        "CONSOLE_ISSUER_ROOTS",
        "File or folder of certificates, in PEM or DER, to trust for the identity provider, beside the system's",
        default: nil, reload: .onRestart, parse: Parse.path)
}
