import OfferCore
import OfferCrypto
import OfferEligibility
import OfferHTTP
import SubscriberStore

/// The parsers for settings. Problems never repeat a string that could be a secret in the wrong variable.
enum Parse {
    static func text(_ text: String, _ name: String, _ problems: inout [Diagnostic]) -> String? { text }

    static func optionalText(_ text: String, _ name: String, _ problems: inout [Diagnostic]) -> String?? { text }

    static func secret(_ text: String, _ name: String, _ problems: inout [Diagnostic]) -> Secret?? { Secret(text) }

    /// Parses a secret that must be long enough to resist guessing. An attacker who guesses it could identify customers
    /// or forge signatures.
    static func longSecret(_ text: String, _ name: String, _ problems: inout [Diagnostic]) -> Secret?? {
        if text.utf8.count < minimumSecretSize {
            problems.append(Diagnostic("\(name) is shorter than \(minimumSecretSize) bytes", hint: secretHint))
        }
        return Secret(text)
    }

    /// The minimum size of a secret, in bytes.
    private static let minimumSecretSize = 16
    static let secretHint =
        "set it to a random secret that never changes, such as the output of: openssl rand -hex 32"

    static func `switch`(_ text: String, _ name: String, _ problems: inout [Diagnostic]) -> Bool? {
        switch text.lowercased() {
        case "false", "no", "0": return false
        case "true", "yes", "1": return true
        default:
            problems.append(Diagnostic("\(name) is neither true nor false", hint: "set it to true, or leave it out"))
            return nil
        }
    }

    /// Parses one of a few values, ignoring letter case.
    static func choice<Choice: RawRepresentable<String> & CaseIterable>(
        _ text: String, _ name: String, _ problems: inout [Diagnostic]
    ) -> Choice? {
        let choice = Choice(rawValue: text.lowercased())
        if choice == nil {
            let values = Choice.allCases.map(\.rawValue).joined(separator: ", ")
            problems.append(
                Diagnostic("\(name) has an unknown value", hint: "set it to one of \(values), or leave it out"))
        }
        return choice
    }

    /// Like ``choice(_:_:_:)``, for a setting whose default depends on other settings.
    static func optionalChoice<Choice: RawRepresentable<String> & CaseIterable>(
        _ text: String, _ name: String, _ problems: inout [Diagnostic]
    ) -> Choice?? {
        let value: Choice? = choice(text, name, &problems)
        return value.map { $0 }
    }

    /// Parses a path. An empty string means no path, as when the variable in `--keys-dir "$KEYS_DIR"` is unset.
    static func path(_ text: String, _ name: String, _ problems: inout [Diagnostic]) -> String?? {
        guard !looksLikeKey(text) else {
            problems.append(
                Diagnostic(
                    "\(name) is not a path", hint: "the text of a key belongs in \(Settings.privateKey.variable)"))
            return nil
        }
        return text.isEmpty ? .some(nil) : text
    }

    /// Returns true if a string looks like a private key, in any of its forms, or like a caller's token.
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

    static func port(_ text: String, _ name: String, _ problems: inout [Diagnostic]) -> Int? {
        guard let port = Int(text) else {
            problems.append(Diagnostic("\(name) is not a number", hint: "set a port from 0 to 65535"))
            return nil
        }
        guard (0...65535).contains(port) else {
            problems.append(
                Diagnostic("there is no port \(port)", hint: "choose a port from 1 to 65535, or 0 for any free port"))
            return nil
        }
        return port
    }

    static func megabytes(_ text: String, _ name: String, _ problems: inout [Diagnostic]) -> Int64?? {
        guard let megabytes = Int64(text), (1...1_000_000).contains(megabytes) else {
            problems.append(
                Diagnostic("\(name) is not a number from 1 to 1000000", hint: "set a size in megabytes"))
            return nil
        }
        return megabytes
    }

    static func mebibytes(_ text: String, _ name: String, _ problems: inout [Diagnostic]) -> Int? {
        guard let mebibytes = Int(text), (8...1_000_000).contains(mebibytes) else {
            problems.append(
                Diagnostic("\(name) is not a number from 8 to 1000000", hint: "set a size in mebibytes, such as 64"))
            return nil
        }
        return mebibytes
    }

    /// Parses the URL of a server, which must have no query. Drops a trailing slash.
    static func baseURL(_ text: String, _ name: String, _ problems: inout [Diagnostic]) -> String?? {
        guard !text.isEmpty else { return .some(nil) }
        guard ServerURL.isGood(text), !text.contains("?") else {
            problems.append(
                Diagnostic(
                    "\(name) is not the base URL of a server",
                    hint: "write it like https://api.storekit.apple.com; http is permitted only on this machine"))
            return nil
        }
        return text.hasSuffix("/") ? String(text.dropLast()) : text
    }

    static func storeLocation(_ text: String, _ name: String, _ problems: inout [Diagnostic]) -> StoreLocation?? {
        guard let location = StoreLocation(text) else {
            problems.append(
                Diagnostic(
                    "\(name) names no database",
                    hint: "write it like sqlite:data/offer-signer.sqlite or postgresql://offers@db.example/offers"))
            return nil
        }
        do { try location.check() } catch {
            problems.append(
                Diagnostic(
                    "\(name) cannot be used: \(error.detail)",
                    hint: "write it like postgresql://offers@db.example/offers"))
            return nil
        }
        return location
    }

    static func days(_ text: String, _ name: String, _ problems: inout [Diagnostic]) -> Int? {
        if let days = Int(text), (1...3650).contains(days) { return days }
        problems.append(
            Diagnostic("\(name) is not a number of days from 1 to 3650", hint: "write it in digits, such as 180"))
        return nil
    }

    /// Parses a number of milliseconds. The App Store waits 700 ms for a retention message, including network time.
    static func retentionDeadline(_ text: String, _ name: String, _ problems: inout [Diagnostic]) -> Duration? {
        if let milliseconds = Int64(text), (20...600).contains(milliseconds) { return .milliseconds(milliseconds) }
        problems.append(
            Diagnostic(
                "\(name) is not a number of milliseconds from 20 to 600", hint: "write it in digits, such as 300"))
        return nil
    }

    static func waitMilliseconds(_ text: String, _ name: String, _ problems: inout [Diagnostic]) -> Int? {
        if let milliseconds = Int(text), (0...5000).contains(milliseconds) { return milliseconds }
        problems.append(
            Diagnostic(
                "\(name) is not a number of milliseconds from 0 to 5000", hint: "write it in digits, such as 800"))
        return nil
    }

    static func listeningAddress(_ text: String, _ name: String, _ problems: inout [Diagnostic]) -> ListeningAddress?? {
        guard let address = ListeningAddress(text) else {
            problems.append(
                Diagnostic(
                    "\(name) is not an address with a port", hint: "write it like 127.0.0.1:9464 or [::1]:9464"))
            return nil
        }
        return address
    }

    static func consoleOrigin(_ text: String, _ name: String, _ problems: inout [Diagnostic]) -> ConsoleOrigin?? {
        origin(text, name, "the URL of a console", "https://offers.example.com", &problems)
    }

    static func linkOrigin(_ text: String, _ name: String, _ problems: inout [Diagnostic]) -> ConsoleOrigin?? {
        origin(text, name, "the scheme and host of links", "https://go.example.com", &problems)
    }

    private static func origin(
        _ text: String, _ name: String, _ what: String, _ example: String, _ problems: inout [Diagnostic]
    ) -> ConsoleOrigin?? {
        guard let origin = ConsoleOrigin(text) else {
            problems.append(
                Diagnostic(
                    "\(name) is not \(what)",
                    hint: "write it like \(example), without a path; http is only for this machine"))
            return nil
        }
        return origin
    }

    /// Parses pairs of a role and a value, such as `support=helpdesk,operator=sre`.
    static func consoleRoles(_ text: String, _ name: String, _ problems: inout [Diagnostic]) -> [String: [String]]? {
        var roles: [String: [String]] = [:]
        for (index, part) in parts(of: text) {
            let pair = part.split(separator: "=", maxSplits: 1).map(String.init)
            guard pair.count == 2, ConsoleSettings.roles.contains(pair[0]) else {
                problems.append(
                    Diagnostic(
                        "part \(index) of \(name) is not a role and a value",
                        hint: "write support=helpdesk; the roles are \(ConsoleSettings.roles.joined(separator: ", "))"))
                return nil
            }
            roles[pair[0], default: []].append(pair[1])
        }
        return roles
    }

    /// Parses addresses and networks, such as `198.51.100.0/28,2001:db8::1`.
    static func networks(
        _ text: String, _ name: String, _ problems: inout [Diagnostic]
    ) -> [TrustedProxies.Network]? {
        parts(of: text).compactMap { index, part in
            let network = TrustedProxies.Network(part)
            if network == nil {
                problems.append(
                    Diagnostic(
                        "part \(index) of \(name) is not a network",
                        hint: "write addresses like 192.0.2.1 or 2001:db8::1, and networks like 198.51.100.0/28"))
            }
            return network
        }
    }

    /// Parses origins, such as `https://app.example.com,capacitor://localhost`.
    static func webOrigins(_ text: String, _ name: String, _ problems: inout [Diagnostic]) -> [WebOrigin]? {
        parts(of: text).compactMap { index, part in
            let origin = WebOrigin(String(part))
            if origin == nil {
                problems.append(
                    Diagnostic(
                        "part \(index) of \(name) is not an origin",
                        hint: "write origins as browsers do, in lower case and without a path: https://app.example.com")
                )
            }
            return origin
        }
    }

    static func issuerID(_ text: String, _ name: String, _ problems: inout [Diagnostic]) -> IssuerID?? {
        do { return try IssuerID(utf8: Array(text.utf8), field: name) } catch {
            problems.append(
                Diagnostic("\(error)", hint: "copy the issuer ID from the In-App Purchase keys in App Store Connect"))
            return nil
        }
    }

    static func keyID(_ text: String, _ name: String, _ problems: inout [Diagnostic]) -> KeyID?? {
        oneKeyID(text, name, &problems).map(Optional.some)
    }

    /// Parses the SHA-256 of a public key.
    static func keyFingerprint(_ text: String, _ name: String, _ problems: inout [Diagnostic]) -> String?? {
        guard let digest = Hexadecimal.bytes(of: text, count: 32) else {
            problems.append(Diagnostic("\(name) is not 64 hexadecimal digits", hint: keyFingerprintHint))
            return nil
        }
        return Hexadecimal.text(of: digest)
    }

    static let keyFingerprintHint = "copy the fingerprint that 'offer-signer keys list' prints"

    /// Parses key IDs separated by commas.
    static func keyIDs(_ text: String, _ name: String, _ problems: inout [Diagnostic]) -> Set<KeyID>? {
        var problemsOfParts: [Diagnostic] = []
        defer { problems += problemsOfParts }
        return Set(parts(of: text).compactMap { _, part in oneKeyID(part, name, &problemsOfParts) })
    }

    private static func oneKeyID(_ text: String, _ name: String, _ problems: inout [Diagnostic]) -> KeyID? {
        do { return try KeyID(utf8: Array(text.utf8), field: "a key ID in \(name)") } catch {
            problems.append(
                Diagnostic("\(error)", hint: "copy the ID from App Store Connect; it looks like 2X9R4HXF34"))
            return nil
        }
    }

    /// Parses pairs such as `com.example.a=KEYID1,com.example.b=KEYID2`, ignoring white space around the parts.
    static func bundleKeyIDs(
        _ text: String, _ name: String, _ problems: inout [Diagnostic]
    ) -> [BundleID: KeyID]? {
        var keyIDs: [BundleID: KeyID] = [:]
        // Apple ignores case in bundle IDs, so no two apps differ only in letter case. In a signature, case matters.
        var seen: Set<String> = []
        for (index, part) in parts(of: text) {
            let place = "part \(index) of \(name)"
            let pair = part.split(separator: "=", omittingEmptySubsequences: false).map(\.trimmed)
            guard pair.count == 2 else {
                problems.append(
                    Diagnostic(
                        "\(place) is not of the form bundle ID=key ID",
                        hint: "write it like com.example.a=2X9R4HXF34,com.example.b=3Y8S5JYG45"))
                continue
            }
            guard let bundleID = try? BundleID(utf8: Array(pair[0].utf8)) else {
                problems.append(
                    Diagnostic("\(place) contains an invalid bundle ID", hint: "copy it from Xcode"))
                continue
            }
            guard let keyID = oneKeyID(pair[1], name, &problems) else { continue }
            if keyIDs.updateValue(keyID, forKey: bundleID) != nil {
                problems.append(
                    Diagnostic("\(place) repeats an app", hint: "an app has only one signing key: remove one"))
            } else if !seen.insert(pair[0].lowercased()).inserted {
                problems.append(
                    Diagnostic(
                        "\(place) repeats an app in different letter case",
                        hint:
                            "keep the spelling that Xcode shows: Apple treats the two as one app, but a signature is "
                            + "valid for only one of them"))
            }
        }
        return keyIDs
    }

    /// Parses callers such as `name=token,name2=token2`.
    static func callers(_ text: String, _ name: String, _ problems: inout [Diagnostic]) -> [Caller]? {
        parts(of: text).compactMap { index, part in
            let pair = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(\.trimmed)
            guard pair.count == 2, Caller.isName(pair[0]), Caller.isToken(pair[1]),
                let digest = try? SHA256.hash(Array(pair[1].utf8))
            else {
                problems.append(
                    Diagnostic(
                        "part \(index) of \(name) is not of the form name=token",
                        hint: """
                            a name has letters, digits, . - _, and a token has at least \(Caller.minimumTokenLength) \
                            characters; create one with: offer-signer tokens new
                            """))
                return nil
            }
            return Caller(
                name: pair[0], tokenDigest: digest, scopes: Caller.Scope.usual, apps: nil, expiry: nil)
        }
    }

    /// Returns the parts of a comma-separated list, trimmed and numbered from 1.
    private static func parts(of text: String) -> [(number: Int, part: String)] {
        text.split(separator: ",", omittingEmptySubsequences: false).enumerated().map { ($0 + 1, $1.trimmed) }
    }
}

extension Substring {
    /// The text without leading and trailing white space.
    fileprivate var trimmed: String {
        var rest = drop(while: \.isWhitespace)
        while rest.last?.isWhitespace == true { rest.removeLast() }
        return String(rest)
    }
}

extension String {
    fileprivate var trimmed: String { self[...].trimmed }
}
