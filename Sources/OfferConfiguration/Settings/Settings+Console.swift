package import OfferHTTP

extension Settings {
    static let consoleGroup = SettingGroup(
        "Console",
        introduction: """
            [The console](console.md) shows customers, offers, alarms and health to people in a browser. It is off until \
            it has an address, and it needs [a database](database.md) for its sessions.
            """,
        settings: [consoleAddress, consoleURL])

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
}
