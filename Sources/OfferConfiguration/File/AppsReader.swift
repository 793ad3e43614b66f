import OfferCore
import OfferCrypto
import OfferEligibility

/// Reads the `apps` of the configuration file.
struct AppsReader {
    private(set) var apps: [BundleID: Catalogue.App] = [:]
    /// See ``ConfigurationFile/keyIDs`` for this property and the next two.
    private(set) var keyIDs: [BundleID: KeyID] = [:]
    private(set) var keyFingerprints: [KeyID: String] = [:]
    private(set) var issuerIDs: [BundleID: IssuerID] = [:]
    private(set) var needsStore = false

    private let rules: RulesReader

    private static let names = [
        "bundleID", "keyID", "keyFingerprint", "issuerID", "allowUnboundJWS", "appAppleID", "environments",
        "sharedSecret", "notifications", "events", "ownership", "freshness", "products", "introductoryOffers",
        "retention", "instead", "jwsLifetime", "preferWinBackOffers", "countRetentionOffers", "countWinBackOffers",
        "countOfferCodes", "sandboxV1", "grants", "links", "refuseDeadOffers", "sandboxRenewalRate", "track",
    ]
    private static let namesThatNeedStore = [
        "sharedSecret", "notifications", "events", "ownership", "freshness", "track",
    ]

    private init(rules: RulesReader) {
        self.rules = rules
    }

    static func read(
        _ value: YAMLValue, _ rules: RulesReader, _ readSecret: ConfigurationFile.ReadSecret
    ) -> AppsReader {
        var reader = AppsReader(rules: rules)
        let items = value.list(
            "apps", ifEmpty: ("apps is empty, so nothing would be signed", "add an app, or remove apps"))
        // According to Apple, bundle IDs are case-insensitive, so no two apps differ only in letter case.
        var seen: Set<String> = []
        for item in items {
            guard let (bundleID, app) = reader.readApp(item, readSecret) else { continue }
            guard seen.insert(bundleID.text.description.lowercased()).inserted else {
                item.report("this app is a duplicate; letter case is ignored", hint: "remove one")
                continue
            }
            if let number = app.appAppleID, reader.apps.values.contains(where: { $0.appAppleID == number }) {
                item.report("another app has this appAppleID", hint: "copy it from App Store Connect")
            }
            reader.apps[bundleID] = app
        }
        return reader
    }

    private mutating func readApp(
        _ value: YAMLValue, _ readSecret: ConfigurationFile.ReadSecret
    ) -> (BundleID, Catalogue.App)? {
        let members = value.members(
            "an app", known: Self.names, required: ["bundleID", "products"], renamed: ["appStoreID": "appAppleID"])
        let bundleID = members["bundleID"]?.identifier { text throws(FieldError) in
            try BundleID(utf8: text, field: "bundleID")
        }
        let products = members["products"].map { ProductsReader.read($0, rules) } ?? [:]
        let appAppleID = members["appAppleID"]?.string(
            "appAppleID must be a positive whole number", hint: "write it in digits"
        ) { Int64($0).flatMap { $0 > 0 ? $0 : nil } }
        let environments =
            members["environments"].flatMap {
                Self.readEnvironments($0, hasAppAppleID: members["appAppleID"] != nil)
            } ?? Catalogue.App.defaultEnvironments(appAppleID: appAppleID)
        let appRules = AppRulesReader.read(
            members,
            of: RetentionReader.App(
                hasAppAppleID: members["appAppleID"] != nil, environments: environments, products: products),
            rules)
        for (sample, sizes) in appRules.sampleSizes.sorted(by: { $0.key < $1.key }) where sizes.count > 1 {
            let sizes = sizes.sorted().map { "\($0)" }.joined(separator: " and ")
            value.report(
                "the sample \(sample.printable) has different sizes: \(sizes)",
                hint: "a customer keeps the place in a sample, so give each size a name of its own (by)")
        }
        reportUnknownCampaigns(in: appRules, at: value)
        if !appRules.isEmpty || Self.namesThatNeedStore.contains(where: { members[$0] != nil }) { needsStore = true }
        let app = Catalogue.App(
            appAppleID: appAppleID, environments: environments,
            offers: products.mapValues(\.offers), groups: products.compactMapValues(\.group),
            familySharable: Set(products.filter(\.value.isFamilySharable).keys),
            allowsUnboundJWS: members["allowUnboundJWS"]?.flag() ?? false,
            ownership: members["ownership"]?.choice(OwnershipPolicy.self) ?? .first,
            freshness: members["freshness"]?.duration(),
            notifications: AppNotifications(
                receivers: members["notifications"]
                    .flatMap { $0.members("notifications", known: ["forward"])["forward"] }
                    .map { Self.readReceivers($0, of: "notifications") } ?? [],
                sharedSecret: members["sharedSecret"].flatMap { Self.readSharedSecret($0, readSecret) }),
            events: members["events"].map(Self.readEvents) ?? AppEvents(),
            rules: appRules, prices: products.values.sorted { $0.place < $1.place }.flatMap(\.prices),
            productPrices: products.mapValues(\.price).filter { !$0.value.isEmpty },
            billingPlans: products.mapValues(\.billingPlans).filter { !$0.value.isEmpty },
            refusesDeadOffers: members["refuseDeadOffers"]?.flag() ?? false,
            tracked: members["track"].map(Self.readTracked) ?? [])
        let keyID = members["keyID"]?.identifier { text throws(FieldError) in try KeyID(utf8: text) }
        if let value = members["keyFingerprint"] { readFingerprint(value, of: members["keyID"], keyID) }
        let issuerID = members["issuerID"]?.identifier { text throws(FieldError) in try IssuerID(utf8: text) }
        guard let bundleID else { return nil }
        keyIDs[bundleID] = keyID
        issuerIDs[bundleID] = issuerID
        return (bundleID, app)
    }

    /// Reports each campaign that a rule names and that the app does not have, and each that another app has.
    private func reportUnknownCampaigns(in rules: AppRules, at value: YAMLValue) {
        let own = rules.links?.campaigns.map(\.name) ?? []
        for name in Set(rules.conditions.flatMap(\.campaigns)).subtracting(own).sorted() {
            value.report(
                "a rule tests the link of \(name), which is no campaign of the app",
                hint: NearMiss.suggestion(for: name, among: own) ?? "add it under links, campaigns")
        }
        for name in own where apps.values.contains(where: { $0.rules.links?.campaign(name) != nil }) {
            value.report(
                "another app has a campaign \(name)", hint: "give each campaign a name of its own, as in spring-app2")
        }
    }

    /// - Parameters:
    ///   - key: the member `keyID`; nil if it is missing.
    ///   - keyID: the parsed key ID; nil if it is invalid or missing.
    private mutating func readFingerprint(_ value: YAMLValue, of key: YAMLValue?, _ keyID: KeyID?) {
        guard key != nil else {
            value.report(
                "keyFingerprint needs a keyID of the same app",
                hint: "add the keyID, or set \(Settings.keyFingerprint.variable) for the key of all apps")
            return
        }
        let digest = value.string("keyFingerprint is not 64 hexadecimal digits", hint: Parse.keyFingerprintHint) {
            Hexadecimal.bytes(of: $0, count: 32)
        }
        guard let digest, let keyID else { return }
        let fingerprint = Hexadecimal.text(of: digest)
        if let other = keyFingerprints.updateValue(fingerprint, forKey: keyID), other != fingerprint {
            value.report("key \(keyID) has a different fingerprint above", hint: Parse.keyFingerprintHint)
        }
    }

    /// - Returns: nil if no valid environment is listed.
    private static func readEnvironments(_ value: YAMLValue, hasAppAppleID: Bool) -> Set<AppStoreEnvironment>? {
        let known = AppStoreEnvironment.known.map(\.rawValue).joined(separator: ", ")
        var environments: Set<AppStoreEnvironment> = []
        let items = value.list("environments", ifEmpty: ("environments is empty", "list Production or Sandbox"))
        for item in items {
            let environment = item.string("this is not an environment of the App Store", hint: "use any of \(known)") {
                text in AppStoreEnvironment.known.first { $0.rawValue == text }
            }
            guard let environment else { continue }
            if environment == .production, !hasAppAppleID {
                item.report(
                    "Production needs the app's appAppleID, which production data is checked against",
                    hint: "copy it from App Store Connect, under App Information")
            }
            environments.insert(environment)
        }
        return environments.isEmpty ? nil : environments
    }

    /// Reads the URLs of receivers.
    private static func readReceivers(_ value: YAMLValue, of content: String) -> [String] {
        var receivers: [String] = []
        for item in value.list("a list of URLs") {
            let url = item.string(
                "this is not a URL that \(content) may be sent to",
                hint: "write it like https://backend.example/app-store; http is allowed only for loopback hosts"
            ) { ServerURL.isGood($0) ? $0 : nil }
            guard let url else { continue }
            if receivers.contains(url) { item.report("this URL is a duplicate", hint: "remove one") }
            receivers.append(url)
        }
        return receivers
    }

    /// Reads the names of the facts whose values are kept with their dates.
    private static func readTracked(_ value: YAMLValue) -> Set<FieldText> {
        let items = value.list("track", ifEmpty: ("track is empty", "name a fact of your team, or remove track"))
        if items.count > TrackedFact.maximumNames {
            value.report(
                "track has more than \(TrackedFact.maximumNames) facts", hint: "track only those that reports compare")
        }
        var names: Set<FieldText> = []
        for item in items {
            let name = item.string(
                "the name of a fact has 1 to \(TeamFact.maximumNameSize) bytes",
                hint: "write it as in PUT /v1/customers/facts"
            ) { try? FieldText(utf8: Array($0.utf8), field: "track", sizes: 1...TeamFact.maximumNameSize) }
            guard let name else { continue }
            if !names.insert(name).inserted { item.report("this fact is a duplicate", hint: "remove one") }
        }
        return names
    }

    private static func readEvents(_ value: YAMLValue) -> AppEvents {
        let members = value.members("events", known: ["to", "kinds"], required: ["to"])
        let receivers = members["to"].map { readReceivers($0, of: "events") } ?? []
        guard let list = members["kinds"] else { return AppEvents(receivers: receivers) }
        let names = CustomerEvent.Kind.allCases.map(\.rawValue).joined(separator: ", ")
        let kinds = list.list("kinds", ifEmpty: ("kinds is empty", "name the kinds of events to send, or leave it out"))
            .compactMap {
                $0.string("this is not a kind of event", hint: "use any of \(names)", CustomerEvent.Kind.init)
            }
        return AppEvents(receivers: receivers, kinds: Set(kinds))
    }

    private static func readSharedSecret(
        _ value: YAMLValue, _ readSecret: ConfigurationFile.ReadSecret
    ) -> Secret? {
        let path = value.string(
            "sharedSecret is not the path of a file",
            hint: "put the secret into a file and write file: before its path, such as file:/run/secrets/app"
        ) { $0.hasPrefix("file:") && $0 != "file:" ? String($0.dropFirst("file:".count)) : nil }
        guard let path else { return nil }
        do throws(Diagnostic) { return try readSecret(path) } catch {
            return value.refuse("sharedSecret: \(error.error)", hint: error.hint)
        }
    }
}
