import OfferCore
import OfferEligibility

/// Reads the `users` of the configuration file: the identity providers whose users may request signatures.
struct UserIssuersReader {
    private var issuers: [UserIssuer] = []
    /// The names of the issuers with `sharesCustomers`.
    private var sharing: Set<[UInt8]> = []

    static func read(_ value: YAMLValue) -> [UserIssuer] {
        var users = UserIssuersReader()
        let items = value.list("users", ifEmpty: ("users is empty", "add an issuer, or remove users"))
        for item in items { users.readIssuer(item) }
        return users.issuers
    }

    private static let claims = ["applicationUsername", "hashedUsername", "appAccountToken"]

    private mutating func readIssuer(_ value: YAMLValue) {
        let members = value.members(
            "an issuer of users",
            known: ["issuer", "audience", "jwks", "algorithms"] + Self.claims + ["apps", "sharesCustomers"],
            required: ["issuer", "audience", "jwks"])
        let issuer = members["issuer"].flatMap { Self.readText($0, "issuer") }
        let audience = members["audience"].flatMap { Self.readText($0, "audience") }
        let location = members["jwks"].flatMap(Self.readLocation)
        let algorithms = members["algorithms"].map(Self.readAlgorithms) ?? TokenAlgorithm.usual
        let customer = Self.readCustomer(members, of: value)
        let apps = members["apps"]?.bundleIDs()
        let shares = members["sharesCustomers"]?.flag() ?? false
        guard let issuer, let audience, let location, let customer else { return }
        guard !issuers.contains(where: { $0.issuer == Array(issuer.utf8) }) else {
            return value.report("this issuer is a duplicate", hint: "remove one")
        }
        let read = UserIssuer(
            issuer: issuer, audience: audience, keys: location, algorithms: algorithms, customer: customer, apps: apps)
        // The App Store identifies customers only by name. Two providers may give the same name to different people.
        if let other = issuers.first(where: { Self.share($0, read) && !(shares && sharing.contains($0.issuer)) }) {
            value.report(
                "this issuer and \(other.name) serve the same app, so a user of one could pass as a customer of the other",
                hint:
                    "give each its own apps; if the same name means the same person at both, set sharesCustomers: true in both"
            )
        }
        issuers.append(read)
        if shares { sharing.insert(read.issuer) }
    }

    /// Returns true if both issuers serve the same app. Like Apple, this function ignores letter case in bundle IDs.
    private static func share(_ one: UserIssuer, _ other: UserIssuer) -> Bool {
        guard let one = one.apps, let other = other.apps else { return true }
        func names(_ apps: Set<BundleID>) -> Set<String> { Set(apps.map { $0.text.description.lowercased() }) }
        return !names(one).isDisjoint(with: names(other))
    }

    /// Reads a string that is short enough for a claim. Refuses control characters, which could forge a log line.
    private static func readText(_ value: YAMLValue, _ name: String) -> String? {
        value.string(
            "\(name) is empty, too long, or has control characters", hint: "copy it from the identity provider"
        ) { text in (try? FieldText(utf8: Array(text.utf8), field: name, sizes: 1...512)).map(\.description) }
    }

    private static func readLocation(_ value: YAMLValue) -> KeySetLocation? {
        guard let text = readText(value, "jwks") else { return nil }
        guard text.contains("://") else { return .file(path: text) }
        return ServerURL.isGood(text)
            ? .url(text)
            : value.refuse(
                "jwks is not a URL that keys may be fetched from",
                hint: "write it like https://id.example.com/jwks.json; http is allowed only for loopback hosts")
    }

    private static func readAlgorithms(_ value: YAMLValue) -> Set<TokenAlgorithm> {
        let known = TokenAlgorithm.allCases.map(\.rawValue).joined(separator: ", ")
        let items = value.list("algorithms", ifEmpty: ("algorithms is empty", "add one, or remove algorithms"))
        return Set(
            items.compactMap { item in
                item.string("this algorithm is not supported", hint: "use any of \(known)") {
                    TokenAlgorithm(rawValue: $0)
                }
            })
    }

    private static func readCustomer(
        _ members: [String: YAMLValue], of value: YAMLValue
    ) -> UserIssuer.CustomerClaim? {
        let named = claims.filter { members[$0] != nil }
        guard named.count == 1, let kind = named.first, let member = members[kind] else {
            return value.refuse(
                "an issuer of users must have exactly one of \(claims.joined(separator: ", "))",
                hint: "name the claim that identifies the customer, such as sub")
        }
        guard let claim = readText(member, kind) else { return nil }
        switch kind {
        case "applicationUsername": return .applicationUsername(claim)
        case "hashedUsername": return .hashedUsername(claim)
        default: return .appAccountToken(claim)
        }
    }
}
