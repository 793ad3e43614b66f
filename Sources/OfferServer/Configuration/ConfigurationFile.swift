package import OfferCore

/// What the configuration file (YAML) says: apps with their products and offers, callers, users, and limits.
///
/// ```yaml
/// apps:
///   - bundleID: com.example.app
///     keyID: 2X9R4HXF34          # optional: the app's own key
///     issuerID: 57246542-96fe-1a63-e053-0824d011072a  # optional: the app's own issuer
///     allowUnboundJWS: true      # optional: also sign a JWS that any customer of the app can use
///     appStoreID: 1234567890     # optional
///     products:
///       - productID: com.example.app.pro.monthly
///         offers: [retention_50off_3m, winback_1m]
/// callers:
///   - name: backend
///     tokenSHA256: 3b1f…         # as 'offer-signer tokens new' prints it
///     scopes: [sign, explain]    # optional: all
///     apps: [com.example.app]    # optional: all
///     expires: 2027-01-01        # optional: never; the token is good until that day begins, UTC
/// users:
///   - issuer: https://id.example.com/
///     audience: com.example.offers
///     jwks: https://id.example.com/jwks.json  # or the path of a file
///     algorithms: [RS256]        # optional: ES256 and RS256
///     applicationUsername: sub   # or hashedUsername, or appAccountToken
///     apps: [com.example.app]    # optional: all
///     sharesCustomers: true      # optional: no; whether another issuer of the same app means the same customers
/// limits:                        # each is optional
///   tokens: off
///   users: {perSecond: 1, burst: 60}
/// ```
package struct ConfigurationFile: Sendable {
    /// nil where the file says nothing of apps.
    package private(set) var catalogue: Catalogue?
    /// The apps' own keys.
    package private(set) var keyIDs: [BundleID: KeyID] = [:]
    /// The apps' own issuers.
    package private(set) var issuerIDs: [BundleID: IssuerID] = [:]
    package private(set) var callers: [Caller] = []
    package private(set) var userIssuers: [UserIssuer] = []

    package private(set) var limits = Limits()

    /// The largest file that is read, in bytes.
    package static let maximumSize = 16 * 1024 * 1024

    /// A file that says nothing.
    package init() {}

    /// - Parameter name: what the file is called in a problem.
    /// - Returns: what could be read, and everything that is wrong, with its line.
    package static func read(
        _ text: [UInt8], name: String
    ) -> (file: ConfigurationFile, problems: [SetupProblem]) {
        var file = ConfigurationFile()
        var reader = YAMLReader(name: name)
        if let root = reader.compose(text) {
            let members = reader.members(of: root, "the configuration", known: ["apps", "callers", "users", "limits"])
            if members.isEmpty {
                reader.add("this names no apps, callers or users", at: root, hint: "name them, or leave the file out")
            }
            if let apps = members["apps"] { file.catalogue = file.readApps(apps, &reader) }
            if let callers = members["callers"] { file.readCallers(callers, &reader) }
            if let limits = members["limits"] { file.limits = LimitsReader.read(limits, &reader) }
            if let users = members["users"] { file.userIssuers = UserIssuersReader.read(users, &reader) }
        }
        return (file, reader.problems)
    }

    // MARK: Apps

    private mutating func readApps(_ node: YAMLNode, _ reader: inout YAMLReader) -> Catalogue {
        var apps: [BundleID: Catalogue.App] = [:]
        var seen: Set<String> = []
        let nodes = reader.items(of: node, "apps")
        if nodes.isEmpty {
            reader.add("apps names none, so nothing would be signed", at: node, hint: "name one, or leave apps out")
        }
        for node in nodes {
            let members = reader.members(
                of: node, "an app",
                known: ["bundleID", "keyID", "issuerID", "allowUnboundJWS", "appStoreID", "products"],
                required: ["bundleID", "products"])
            let bundleID = members["bundleID"].flatMap { node in
                reader.value(of: node) { text throws(FieldError) in try BundleID(utf8: text, field: "bundleID") }
            }
            let appStoreID = members["appStoreID"].flatMap { reader.number(of: $0, "appStoreID") }
            let keyID = members["keyID"].flatMap { node in
                reader.value(of: node) { text throws(FieldError) in try KeyID(utf8: text) }
            }
            let issuerID = members["issuerID"].flatMap { node in
                reader.value(of: node) { text throws(FieldError) in try IssuerID(utf8: text) }
            }
            let allowsUnboundJWS =
                members["allowUnboundJWS"].flatMap { reader.bool(of: $0, "allowUnboundJWS") } ?? false
            let offers = members["products"].map { Self.readProducts($0, &reader) } ?? [:]
            guard let bundleID else { continue }
            // Apple: bundle IDs are case-insensitive, so no two apps differ in letter case alone.
            guard seen.insert(bundleID.text.description.lowercased()).inserted else {
                reader.add("this app is there already, if only in other letter case", at: node, hint: "leave one out")
                continue
            }
            apps[bundleID] = Catalogue.App(
                appStoreID: appStoreID, offers: offers, allowsUnboundJWS: allowsUnboundJWS)
            keyIDs[bundleID] = keyID
            issuerIDs[bundleID] = issuerID
        }
        return Catalogue(apps: apps)
    }

    private static func readProducts(_ node: YAMLNode, _ reader: inout YAMLReader) -> [ProductID: Set<OfferID>] {
        var products: [ProductID: Set<OfferID>] = [:]
        for node in reader.items(of: node, "products") {
            let members = reader.members(
                of: node, "a product", known: ["productID", "offers"], required: ["productID", "offers"])
            let productID = members["productID"].flatMap { node in
                reader.value(of: node) { text throws(FieldError) in try ProductID(utf8: text, field: "productID") }
            }
            var offers: Set<OfferID> = []
            for node in members["offers"].map({ reader.items(of: $0, "offers") }) ?? [] {
                let offer = reader.value(of: node) { text throws(FieldError) in try OfferID(utf8: text) }
                guard let offer else { continue }
                if !offers.insert(offer).inserted {
                    reader.add("this offer is there already", at: node, hint: "leave one out")
                }
            }
            guard let productID else { continue }
            if products.updateValue(offers, forKey: productID) != nil {
                reader.add("this product is there already", at: node, hint: "put all of its offers in one place")
            }
        }
        return products
    }

    // MARK: Callers

    private mutating func readCallers(_ node: YAMLNode, _ reader: inout YAMLReader) {
        let nodes = reader.items(of: node, "callers")
        if nodes.isEmpty {
            reader.add("callers names none, and anyone could ask", at: node, hint: "name one, or leave callers out")
        }
        for node in nodes { readCaller(node, &reader) }
    }

    private mutating func readCaller(_ node: YAMLNode, _ reader: inout YAMLReader) {
        let members = reader.members(
            of: node, "a caller", known: ["name", "tokenSHA256", "scopes", "apps", "expires"],
            required: ["name", "tokenSHA256"])
        let name = members["name"].flatMap { node in
            reader.text(of: node).flatMap { text in
                Caller.isName(text)
                    ? text
                    : reader.refuse("this cannot be a name", at: node, hint: "up to 64 letters, digits, . - _")
            }
        }
        let digest = members["tokenSHA256"].flatMap { node in
            reader.text(of: node).flatMap { text in
                Hexadecimal.bytes(of: text, count: 32)
                    ?? reader.refuse(
                        "tokenSHA256 is not 64 hexadecimal digits", at: node,
                        hint: "make a token with: offer-signer tokens new")
            }
        }
        var scopes: Set<Caller.Scope>?
        if let node = members["scopes"] {
            scopes = Set(
                reader.items(of: node, "scopes").compactMap { node in
                    reader.text(of: node).flatMap { text in
                        Caller.Scope(rawValue: text)
                            ?? reader.refuse("there is no such scope", at: node, hint: "sign, explain or metrics")
                    }
                })
        }
        let apps = members["apps"].map { reader.bundleIDs(of: $0) }
        let expiry = members["expires"].flatMap { node in
            reader.text(of: node).flatMap { text in
                ExpiryDate.read(text)
                    ?? reader.refuse("expires is not a day", at: node, hint: "write it like 2027-01-31")
            }
        }
        guard let name, let digest else { return }
        callers.append(
            Caller(
                name: name, tokenDigest: digest, scopes: scopes ?? Set(Caller.Scope.allCases), apps: apps,
                expiry: expiry))
    }
}
