import OfferCore
import OfferEligibility

/// Reads the `users` of the configuration file: the identity providers whose users may request signatures.
struct UserIssuersReader {
    private var issuers: [UserIssuer] = []
    /// Issuers with `sharesCustomers`.
    private var sharing: Set<[UInt8]> = []

    static func read(_ node: YAMLNode, _ reader: inout YAMLReader) -> [UserIssuer] {
        var users = UserIssuersReader()
        let nodes = reader.items(of: node, "users")
        if nodes.isEmpty { reader.add("users is empty", at: node, hint: "add an issuer, or remove users") }
        for node in nodes { users.readIssuer(node, &reader) }
        return users.issuers
    }

    private static let claims = ["applicationUsername", "hashedUsername", "appAccountToken"]

    private mutating func readIssuer(_ node: YAMLNode, _ reader: inout YAMLReader) {
        let members = reader.members(
            of: node, "an issuer of users",
            known: ["issuer", "audience", "jwks", "algorithms"] + Self.claims + ["apps", "sharesCustomers"],
            required: ["issuer", "audience", "jwks"])
        let issuer = members["issuer"].flatMap { Self.readText($0, "issuer", &reader) }
        let audience = members["audience"].flatMap { Self.readText($0, "audience", &reader) }
        let place = members["jwks"].flatMap { Self.readPlace($0, &reader) }
        let algorithms = members["algorithms"].map { Self.readAlgorithms($0, &reader) } ?? TokenAlgorithm.usual
        let customer = Self.readCustomer(members, at: node, &reader)
        let apps = members["apps"].map { reader.bundleIDs(of: $0) }
        let shares = members["sharesCustomers"].flatMap { reader.bool(of: $0, "sharesCustomers") } ?? false
        guard let issuer, let audience, let place, let customer else { return }
        guard !issuers.contains(where: { $0.issuer == Array(issuer.utf8) }) else {
            return reader.add("this issuer is a duplicate", at: node, hint: "remove one")
        }
        let read = UserIssuer(
            issuer: issuer, audience: audience, keys: place, algorithms: algorithms, customer: customer, apps: apps)
        // The App Store identifies customers only by name. Two providers may give the same name to different people.
        if let other = issuers.first(where: { Self.share($0, read) && !(shares && sharing.contains($0.issuer)) }) {
            reader.add(
                "this issuer and \(other.name) serve the same app, so a user of one could pass as a customer of the other",
                at: node,
                hint:
                    "give each its own apps; if the same name means the same person at both, set sharesCustomers: true in both"
            )
        }
        issuers.append(read)
        if shares { sharing.insert(read.issuer) }
    }

    /// True if both issuers serve the same app. Like Apple, this ignores letter case in bundle IDs.
    private static func share(_ one: UserIssuer, _ other: UserIssuer) -> Bool {
        guard let one = one.apps, let other = other.apps else { return true }
        func names(_ apps: Set<BundleID>) -> Set<String> { Set(apps.map { $0.text.description.lowercased() }) }
        return !names(one).isDisjoint(with: names(other))
    }

    /// - Returns: a string that is short enough for a claim and has no control characters, which could forge a log line.
    private static func readText(_ node: YAMLNode, _ name: String, _ reader: inout YAMLReader) -> String? {
        reader.text(of: node).flatMap { text in
            (try? FieldText(utf8: Array(text.utf8), field: name, sizes: 1...512)).map(\.description)
                ?? reader.refuse(
                    "\(name) is empty, too long, or has control characters", at: node,
                    hint: "copy it from the identity provider")
        }
    }

    private static func readPlace(_ node: YAMLNode, _ reader: inout YAMLReader) -> KeySetLocation? {
        guard let text = readText(node, "jwks", &reader) else { return nil }
        guard text.contains("://") else { return .file(path: text) }
        return ServerURL.isGood(text)
            ? .url(text)
            : reader.refuse(
                "jwks is not a URL that keys may be fetched from", at: node,
                hint: "write it like https://id.example.com/jwks.json; http is allowed only for loopback hosts")
    }

    private static func readAlgorithms(_ node: YAMLNode, _ reader: inout YAMLReader) -> Set<TokenAlgorithm> {
        let nodes = reader.items(of: node, "algorithms")
        if nodes.isEmpty { reader.add("algorithms is empty", at: node, hint: "add one, or remove algorithms") }
        return Set(
            nodes.compactMap { node in
                reader.text(of: node).flatMap { text in
                    TokenAlgorithm(rawValue: text)
                        ?? reader.refuse(
                            "this algorithm is not supported", at: node,
                            hint: "use any of \(TokenAlgorithm.allCases.map(\.rawValue).joined(separator: ", "))")
                }
            })
    }

    private static func readCustomer(
        _ members: [String: YAMLNode], at node: YAMLNode, _ reader: inout YAMLReader
    ) -> UserIssuer.CustomerClaim? {
        let named = claims.filter { members[$0] != nil }
        guard named.count == 1, let kind = named.first, let value = members[kind] else {
            return reader.refuse(
                "an issuer of users must have exactly one of \(claims.joined(separator: ", "))", at: node,
                hint: "name the claim that identifies the customer, such as sub")
        }
        guard let claim = readText(value, kind, &reader) else { return nil }
        switch kind {
        case "applicationUsername": return .applicationUsername(claim)
        case "hashedUsername": return .hashedUsername(claim)
        default: return .appAccountToken(claim)
        }
    }
}
