import OfferCore

/// Collects what is wrong while a configuration is read, so that an operator hears of everything at once.
struct ConfigurationProblems {
    private(set) var found: [SetupProblem] = []

    private mutating func add(_ error: String, hint: String) {
        found.append(SetupProblem(error, hint: hint))
    }

    /// A misspelt variable would be passed over in silence; so would a promise that this version cannot keep.
    mutating func checkNames(in environment: [String: String]) {
        let known = Variable.allCases.map(\.rawValue)
        for name in environment.keys.sorted() where Variable.isMeant(name) && !known.contains(name) {
            add("\(name) is set, and this version knows no such setting", hint: "unset it, or use \(list(known))")
        }
    }

    // Of what was set, only numbers, key IDs and paths are repeated: by a slip the rest may be the text of a key.

    /// Beyond this machine a service must not hand out what is meant for customers, nor let it be read on the way.
    mutating func checkOpenToOthers(_ configuration: Configuration, allowsAnyone: Bool) {
        let host = "\(Variable.host.rawValue) or --host is not a loopback address"
        if configuration.certificate == nil, !configuration.isBehindProxy {
            add(
                "\(host), and without TLS tokens and signatures could be read on the way",
                hint: """
                    set \(Variable.tlsCertificate.rawValue) and \(Variable.tlsKey.rawValue), or, where a proxy in front \
                    speaks TLS and nobody gets past it, \(Variable.behindProxy.rawValue)=true
                    """)
        }
        if configuration.callers.isEmpty, !allowsAnyone {
            add(
                "\(host), and no caller is configured, so whoever reaches the service could have offers signed",
                hint: """
                    make a token with: offer-signer tokens new; or, where something else keeps strangers away, set \
                    \(Variable.allowAnyone.rawValue)=true
                    """)
        }
        if configuration.catalogue == nil, configuration.wanted.choice.ofAllApps != nil {
            add(
                "\(host), and one key signs for any app, product and offer that somebody asks for",
                hint: """
                    name apps and their offers in \(Variable.configurationFile.rawValue), or each app's key in \
                    \(Variable.bundleKeyIDs.rawValue) instead of \(Variable.keyID.rawValue)
                    """)
        }
    }

    /// - Parameter text: addresses and networks, such as `198.51.100.0/28,2001:db8::1`.
    mutating func networks(_ text: String?) -> [TrustedProxies.Network] {
        let parts = text?.split(separator: ",", omittingEmptySubsequences: false) ?? []
        return parts.enumerated().compactMap { index, part in
            let network = TrustedProxies.Network(part.trimmed)
            if network == nil {
                add(
                    "part \(index + 1) of \(Variable.trustedProxies.rawValue) or --trusted-proxies is no network",
                    hint: "write addresses like 192.0.2.1 or 2001:db8::1, and networks like 198.51.100.0/28")
            }
            return network
        }
    }

    /// - Returns: `path`, or nil if it is not set or looks like something else.
    mutating func path(_ path: String?, setBy names: String) -> String? {
        guard let path, !path.isEmpty else { return nil }
        guard !Self.looksLikeKey(path) else {
            add(
                "\(names) is not a path", hint: "the text of a key belongs into \(Variable.privateKey.rawValue)")
            return nil
        }
        return path
    }

    /// Whether a text may be a private key in one of its forms, and must not be repeated.
    private static func looksLikeKey(_ text: String) -> Bool {
        let isBase64 = text.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "/"), UInt8(ascii: "="),
                UInt8(ascii: " "):
                true
            default: false
            }
        }
        return text.contains(where: \.isNewline) || text.contains("-----") || isBase64 && text.utf8.count >= 100
            || text.hasPrefix("ost_")
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

    mutating func metricsAddress(_ text: String?) -> ListeningAddress? {
        guard let text else { return nil }
        let address = ListeningAddress(text)
        if address == nil {
            add(
                "\(Variable.metricsAddress.rawValue) or --metrics-address is no address with a port",
                hint: "write it like 127.0.0.1:9464 or [::1]:9464")
        }
        return address
    }

    mutating func isOn(_ variable: Variable, in environment: [String: String]) -> Bool {
        switch environment[variable.rawValue]?.lowercased() {
        case nil, "false", "no", "0": return false
        case "true", "yes", "1": return true
        default:
            add("\(variable.rawValue) is neither true nor false", hint: "set it to true, or leave it out")
            return false
        }
    }

    /// One of the few values that a variable may have; nil if it is not set, or is set to another.
    mutating func choice<Choice: RawRepresentable<String> & CaseIterable>(
        _ variable: Variable, in environment: [String: String]
    ) -> Choice? {
        guard let text = environment[variable.rawValue] else { return nil }
        let choice = Choice(rawValue: text.lowercased())
        if choice == nil {
            add(
                "\(variable.rawValue) is set to none of its values",
                hint: "set it to one of \(list(Choice.allCases.map(\.rawValue))), or leave it out")
        }
        return choice
    }

    /// - Returns: as much as can be told.
    mutating func wantedKeys(
        flags: Configuration.Flags, environment: [String: String], file: ConfigurationFile
    ) -> WantedKeys {
        let idText = flags.keyID ?? environment[Variable.keyID.rawValue]
        let pairs = environment[Variable.bundleKeyIDs.rawValue]
        if environment[Variable.privateKey.rawValue] != nil, idText == nil {
            add(
                "\(Variable.privateKey.rawValue) is set without the key's ID",
                hint: "set \(Variable.keyID.rawValue) to the ID that App Store Connect shows for that key")
        } else if idText == nil, pairs == nil, file.keyIDs.isEmpty, !flags.development, !flags.mayChooseNoKey {
            add(
                "no key to sign with",
                hint: """
                    set \(Variable.keyID.rawValue) and put SubscriptionKey_<KEYID>.p8 from App Store Connect into keys/, \
                    or try the service out with: offer-signer serve --development
                    """)
        }
        if flags.development, idText != nil || pairs != nil || !file.keyIDs.isEmpty {
            add(
                "--development asks for a development key, and a key ID is configured as well",
                hint: "leave one of them out")
        }
        let ofAllApps = (flags.development ? Configuration.developmentKeyID : idText)
            .flatMap { keyID($0, from: Variable.keyID.rawValue) }
        let ofApps = pairs.map { keyIDs(ofApps: $0) } ?? [:]
        if let catalogue = file.catalogue, ofApps.keys.contains(where: { catalogue.apps[$0] == nil }) {
            add(
                "\(Variable.bundleKeyIDs.rawValue) names an app that is not in the configuration file",
                hint: "add the app there, with its products and offers, or take it out here")
        }
        let choice = KeyChoice(ofAllApps: ofAllApps, ofApps: file.keyIDs.merging(ofApps) { $1 })
        return WantedKeys(choice: choice, retired: retiredKeys(in: environment, besides: choice))
    }

    mutating func issuerID(_ text: String?) -> IssuerID? {
        guard let text else { return nil }
        do { return try IssuerID(utf8: Array(text.utf8), field: "\(Variable.issuerID.rawValue) or --issuer-id") } catch
        {
            add("\(error)", hint: "copy the issuer ID from the In-App Purchase keys in App Store Connect")
            return nil
        }
    }

    /// - Parameter environment: may have the tokens as `name=token,name2=token2`.
    mutating func callers(
        in environment: [String: String], sha256: ([UInt8]) throws -> [UInt8]
    ) -> [Caller] {
        let variable = Variable.tokens.rawValue
        let parts = environment[variable]?.split(separator: ",", omittingEmptySubsequences: false) ?? []
        return parts.enumerated().compactMap { index, part in
            let pair = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(\.trimmed)
            guard pair.count == 2, Caller.isName(pair[0]), Caller.isToken(pair[1]),
                let digest = try? sha256(Array(pair[1].utf8))
            else {
                add(
                    "part \(index + 1) of \(variable) is not of the form name=token",
                    hint: "a name is letters, digits, . - _; make a token with: offer-signer tokens new")
                return nil
            }
            return Caller(
                name: pair[0], tokenDigest: digest, scopes: Set(Caller.Scope.allCases), apps: nil, expiry: nil)
        }
    }

    mutating func check(_ callers: Callers) {
        if callers.shareTokens {
            add(
                "two callers have the same token",
                hint: "give each its own, in the configuration file and in the environment")
        }
        if callers.areTooMany {
            add("there are more than \(Callers.maximumCount) callers", hint: "leave out those that nobody uses")
        }
    }

    /// - Returns: what usernames are hashed under, if it is set.
    mutating func usernameSalt(in environment: [String: String], for issuers: [UserIssuer]) -> Secret? {
        let variable = Variable.usernameSalt.rawValue
        let salt = environment[variable]
        if let salt, salt.utf8.count < Self.minimumSaltSize {
            add("\(variable) is shorter than \(Self.minimumSaltSize) bytes", hint: Self.makeSalt)
        }
        let isNeeded = issuers.contains { if case .hashedUsername = $0.customer { true } else { false } }
        if isNeeded, salt == nil {
            add("users have a hashedUsername, and \(variable) is not set", hint: Self.makeSalt)
        }
        return salt.map(Secret.init)
    }

    /// In bytes. Who can guess it can tell whose username it is by trying all users.
    private static let minimumSaltSize = 16
    private static let makeSalt =
        "set it to a secret at random, such as that of: openssl rand -hex 32; and never change it"

    mutating func audit(flag: String?, environment: [String: String]) -> AuditSettings? {
        let path = path(
            flag ?? environment[Variable.auditLog.rawValue], setBy: "\(Variable.auditLog.rawValue) or --audit-log")
        let isSynced = isOn(.auditSync, in: environment)
        let key = environment[Variable.auditKey.rawValue]
        if let key, key.utf8.count < Self.minimumSaltSize {
            add(
                "\(Variable.auditKey.rawValue) is shorter than \(Self.minimumSaltSize) bytes",
                hint: "set it to a secret at random, such as that of: openssl rand -hex 32")
        }
        var rotatesAtBytes: Int64?
        if let text = environment[Variable.auditRotateMB.rawValue] {
            if let megabytes = Int64(text), (1...1_000_000).contains(megabytes) {
                rotatesAtBytes = megabytes * 1_000_000
            } else {
                add(
                    "\(Variable.auditRotateMB.rawValue) is no number from 1 to 1000000", hint: "set a size in megabytes"
                )
            }
        }
        if path == nil, isSynced || key != nil || rotatesAtBytes != nil {
            add(
                "there are settings of an audit trail, and \(Variable.auditLog.rawValue) names none",
                hint: "name its file, or unset \(Variable.auditKey.rawValue) and the like")
        }
        return path.map { path in
            AuditSettings(path: path, isSynced: isSynced, rotatesAtBytes: rotatesAtBytes, key: key.map(Secret.init))
        }
    }

    private mutating func retiredKeys(in environment: [String: String], besides choice: KeyChoice) -> Set<KeyID> {
        let variable = Variable.retiredKeyIDs.rawValue
        var retired: Set<KeyID> = []
        for part in environment[variable]?.split(separator: ",", omittingEmptySubsequences: false) ?? [] {
            guard let id = keyID(part.trimmed, from: variable) else { continue }
            if choice.chooses(id) {
                add(
                    "key \(id) is to sign and to be retired (\(variable)) at the same time",
                    hint: "a retired key never signs: choose another one, or take it off the list")
            }
            retired.insert(id)
        }
        return retired
    }

    /// - Parameter text: `com.example.a=KEYID1,com.example.b=KEYID2`; white space around a part does not count.
    private mutating func keyIDs(ofApps text: String) -> [BundleID: KeyID] {
        let variable = Variable.bundleKeyIDs.rawValue
        var keyIDs: [BundleID: KeyID] = [:]
        // Apple: bundle IDs are case-insensitive, so no two apps differ in letter case alone. In a signature case counts.
        var seen: Set<String> = []
        for (index, pair) in text.split(separator: ",", omittingEmptySubsequences: false).enumerated() {
            let place = "part \(index + 1) of \(variable)"
            let parts = pair.split(separator: "=", omittingEmptySubsequences: false).map(\.trimmed)
            guard parts.count == 2 else {
                add(
                    "\(place) is not of the form bundle ID=key ID",
                    hint: "write it like com.example.a=2X9R4HXF34,com.example.b=3Y8S5JYG45")
                continue
            }
            guard let bundleID = try? BundleID(utf8: Array(parts[0].utf8)) else {
                add("\(place) has something that cannot be a bundle ID", hint: "copy it from Xcode")
                continue
            }
            guard let keyID = keyID(parts[1], from: variable) else { continue }
            if keyIDs.updateValue(keyID, forKey: bundleID) != nil {
                add("\(place) names an app a second time", hint: "an app has one key that signs: leave one out")
            } else if !seen.insert(parts[0].lowercased()).inserted {
                add(
                    "\(place) names an app that is there already but for letter case",
                    hint:
                        "keep the spelling that Xcode shows: to Apple both are one app, but a signature holds for one spelling"
                )
            }
        }
        return keyIDs
    }

    private mutating func keyID(_ text: String, from variable: String) -> KeyID? {
        do {
            return try KeyID(utf8: Array(text.utf8), field: "a key ID in \(variable)")
        } catch {
            add("\(error)", hint: "copy the ID from App Store Connect; it looks like 2X9R4HXF34")
            return nil
        }
    }

    private func list(_ names: [String]) -> String { names.joined(separator: ", ") }
}

extension Substring {
    /// Without white space at its ends.
    fileprivate var trimmed: String {
        var rest = drop(while: \.isWhitespace)
        while rest.last?.isWhitespace == true { rest.removeLast() }
        return String(rest)
    }
}
