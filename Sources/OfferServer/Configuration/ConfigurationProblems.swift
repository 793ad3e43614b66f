import OfferCore

/// Collects what is wrong while a configuration is read, so that an operator hears of everything at once.
struct ConfigurationProblems {
    private(set) var found: [ConfigurationError.Problem] = []

    private mutating func add(_ error: String, hint: String) {
        found.append(.init(error: error, hint: hint))
    }

    /// A misspelt variable would be passed over in silence; so would a promise that this version cannot keep.
    mutating func checkNames(in environment: [String: String]) {
        let known = Variable.allCases.map(\.rawValue)
        for name in environment.keys.sorted() where name.hasPrefix(Variable.prefix) && !known.contains(name) {
            add("\(name) is set, and this version knows no such setting", hint: "unset it, or use \(list(known))")
        }
    }

    mutating func checkLoopback(_ host: String) {
        guard !LoopbackAddress.isLoopback(host) else { return }
        add(
            "\(host) is not a loopback address, and anyone who reaches the service gets signatures",
            hint: "listen on 127.0.0.1 and let your own backend ask on the customers' behalf")
    }

    mutating func port(in environment: [String: String]) -> Int? {
        guard let text = environment[Variable.port.rawValue] else { return nil }
        guard let port = Int(text) else {
            add("\(Variable.port.rawValue) is not a number", hint: "set a port from 0 to 65535")
            return nil
        }
        return port
    }

    mutating func checkPort(_ port: Int) {
        guard !(0...65535).contains(port) else { return }
        add("there is no port \(port)", hint: "choose one from 0 (any that is free) to 65535")
    }

    mutating func keySource(flags: Configuration.Flags, environment: [String: String]) -> Configuration.KeySource? {
        let text = environment[Variable.privateKey.rawValue]
        guard let idText = flags.keyID ?? environment[Variable.keyID.rawValue] else {
            if flags.development, text == nil { return .development }
            if text != nil {
                add(
                    "\(Variable.privateKey.rawValue) is set without the key's ID",
                    hint: "set \(Variable.keyID.rawValue) to the ID that App Store Connect shows for that key")
            } else {
                add(
                    "no key to sign with",
                    hint: """
                        set \(Variable.keyID.rawValue) and put SubscriptionKey_<KEYID>.p8 from App Store Connect into keys/, \
                        or try the service out with: offer-signer serve --development
                        """)
            }
            return nil
        }
        guard !flags.development else {
            add(
                "--development asks for a development key, and a key ID is configured as well",
                hint: "leave one of them out")
            return nil
        }
        do {
            let id = try KeyID(utf8: Array(idText.utf8), field: Variable.keyID.rawValue)
            return text.map { .text(id, Secret($0)) } ?? .folder(id)
        } catch {
            add("\(error)", hint: "copy the ID from App Store Connect; it looks like 2X9R4HXF34")
            return nil
        }
    }

    private func list(_ names: [String]) -> String { names.joined(separator: ", ") }
}
