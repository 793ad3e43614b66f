import AppStoreAPI
import ArgumentParser
import FoundationEssentials
import OfferAudit
import OfferConfiguration
import OfferCore
import OfferCrypto
import OfferEligibility
import OfferHTTP
import OfferIdentity
import OfferKeys
import OfferService
import OutgoingHTTP
import SubscriberStore
import SubscriberSync

/// `offer-signer doctor`: reports the problems that `serve` would have, without serving.
struct DoctorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Report every problem with the configuration and what to do about it.",
        discussion: """
            Checks what 'serve' would use with the same options, without changing anything: the configuration, every \
            key, the users' key sets in files, the end of the audit trail, the database, the clock, and the \
            cryptography (with known-answer tests). Does not try the port, because a running service may be using it. \
            Exits with status 0 if the service would be ready, otherwise 1. A configuration without callers is only a \
            warning: /health/ready would answer 200, with the status degraded.

            With --online, it also sends a request to the App Store with each key. That shows whether the keys, the \
            issuer ID and the apps of the configuration belong together, and whether the App Store can be reached. It \
            also reads what the identity provider of the console publishes. With a key for App Store Connect, it \
            compares the catalogue too, like 'catalogue check'.
            """
    )

    @OptionGroup var options: ServeOptions

    @Flag(help: "Also try each key with the App Store, and the identity provider of the console.")
    var online = false

    func run() async throws {
        var (configuration, problems) = options.reader.readAll()
        if problems.isEmpty {
            report("the configuration is consistent")
            for problem in configuration.callersProblems {
                StandardStreams.print("warning: \(problem.error)\nhint: \(problem.hint)\n")
            }
        }
        for warning in configuration.catalogue.map(CatalogueLint.warnings) ?? [] {
            StandardStreams.print("warning: \(warning.error)\nhint: \(warning.hint)\n")
        }
        for note in configuration.catalogue.map({ CatalogueLint.notes(about: $0, asking: configuration.syncableApps) })
            ?? []
        {
            StandardStreams.print("note: \(note.error)\nhint: \(note.hint)\n")
        }
        if let notice = configuration.proxyNotice {
            StandardStreams.print("note: \(notice.error)\nhint: \(notice.hint)\n")
        }
        reportWebOrigins(configuration)
        problems += keyProblems(configuration)
        problems += await userProblems(configuration)
        problems += auditProblems(configuration)
        reportAppStoreData(configuration.appStore)
        problems += storeProblems(configuration.store)
        await reportChangedSamples(configuration)
        problems += await consoleProblems(configuration.console, isOnline: online)
        reportGrants(configuration)
        reportLinks(configuration)
        reportReports(configuration)
        reportEvents(configuration)
        problems += clockProblems(configuration)
        problems += cryptographyProblems()
        if let problem = configuration.certificate?.problem(at: .now) { problems.append(problem) }
        if online {
            problems += await onlineProblems(configuration) + catalogueProblems(configuration)
        } else {
            reportAppStoreAPI(configuration)
            if configuration.appStoreConnect != nil {
                report("the catalogue would be compared with App Store Connect; --online does so")
            }
        }
        guard problems.isEmpty else { throw ConfigurationError(problems: problems) }
        report("the service would be ready")
    }

    private func keyProblems(_ configuration: Configuration) -> [Diagnostic] {
        let keys = AvailableKeys(configuration.keys)
        if configuration.isDevelopment,
            !keys.all.contains(where: { $0.id == configuration.keys.wanted.choice.ofAllApps })
        {
            return keys.all.compactMap(\.problem) + developmentKeyProblems(configuration.keys.folder.path)
        }
        reportSecureHeap()
        let plan = keys.plan(from: KeyRing())
        for id in plan.ring.active {
            let token = (plan.ring.key(id)?.pair as? TokenKey).map { ", in the token \($0.tokenName.printable)" }
            report("key \(id) signs" + (token ?? ""))
        }
        return plan.problems
    }

    /// Reports where private keys are kept in memory. The service also works without the locked heap, so this is only a
    /// note.
    private func reportSecureHeap() {
        guard let problem = SecureHeap.state.problem else {
            return report("private keys are kept on libcrypto's secure heap, locked in memory")
        }
        StandardStreams.print("note: \(problem.error)\nhint: \(problem.hint)\n")
    }

    /// Returns the problems that prevent a missing development key from being created.
    private func developmentKeyProblems(_ folder: String) -> [Diagnostic] {
        guard FileManager.default.isWritableFile(atPath: folder + "/") else {
            return [
                Diagnostic(
                    "a development key cannot be created in \(folder)", hint: "the folder must exist and be writable")
            ]
        }
        report("a development key would be created in \(folder)")
        return []
    }

    /// Returns the problems with users' key sets that are stored in files. URLs are not fetched, because a response now
    /// says little about later ones.
    private func userProblems(_ configuration: Configuration) async -> [Diagnostic] {
        let reader = KeySetReader()
        var problems: [Diagnostic] = []
        for issuer in configuration.callers.userIssuers {
            guard case .file = issuer.keys else {
                report("the keys of \(issuer.name) would be fetched from \(issuer.keys); not tried here")
                continue
            }
            do throws(KeySetFault) {
                let text = try await reader.text(at: issuer.keys)
                problems += text.problems
                let (set, ofSet) = try await reader.keys(in: text.bytes, from: issuer.keys)
                let found = ofSet + (issuer.problem(with: set).map { [$0] } ?? [])
                if found.isEmpty { report("the keys of \(issuer.name) are in \(issuer.keys)") }
                problems += found
            } catch {
                problems.append(error.problem)
            }
        }
        return problems
    }

    /// Lists the origins whose pages may call the service.
    private func reportWebOrigins(_ configuration: Configuration) {
        guard !configuration.webOrigins.isEmpty else { return }
        let origins = configuration.webOrigins.map(\.text).sorted().joined(separator: ", ")
        report("pages of \(origins) may call the routes for apps")
        for warning in configuration.webOriginWarnings {
            StandardStreams.print("warning: \(warning.error)\nhint: \(warning.hint)\n")
        }
    }

    /// Lists the apps whose offers can be granted to single customers.
    private func reportGrants(_ configuration: Configuration) {
        let apps = (configuration.catalogue?.apps ?? [:]).sorted { $0.key.text.description < $1.key.text.description }
        for (bundleID, app) in apps {
            guard let policy = app.rules.grants else { continue }
            report(
                configuration.audit == nil
                    ? "offers of \(bundleID.text) cannot be granted, because there is no audit trail"
                    : "offers of \(bundleID.text) can be granted, \(policy.dailyBudget) a day by each person alone")
        }
    }

    /// Lists the campaigns with links, and what personal links lack.
    private func reportLinks(_ configuration: Configuration) {
        let apps = (configuration.catalogue?.apps ?? [:]).sorted { $0.key.text.description < $1.key.text.description }
        if configuration.links.address != nil, apps.allSatisfy({ $0.value.rules.links == nil }) {
            report("pages of links would be served, but no app has campaigns")
        }
        for (bundleID, app) in apps {
            guard let links = app.rules.links else { continue }
            let names = links.campaigns.map { campaign in
                campaign.hasEnded(at: Timestamp(.now)) ? "\(campaign.name) (ended)" : campaign.name
            }
            report("campaigns of \(bundleID.text) with links: \(names.joined(separator: ", "))")
            guard links.campaigns.contains(where: { $0.offer != nil }) else { continue }
            if configuration.links.key == nil {
                report("personal links do not count, because \(Settings.linksKey.variable) is not set")
            }
            if configuration.store == nil { report("personal links do not count, because there is no database") }
        }
    }

    /// Lists the receivers of each app's events, and what the events lack.
    private func reportEvents(_ configuration: Configuration) {
        let apps = (configuration.catalogue?.apps ?? [:]).sorted { $0.key.text.description < $1.key.text.description }
        for (bundleID, app) in apps where !app.events.receivers.isEmpty {
            let names = Set(app.events.receivers.map(ReceiverName.of)).sorted().joined(separator: ", ")
            let unsigned = configuration.forwarding.key == nil
            report(
                "events of \(bundleID.text) would go to \(names)"
                    + (unsigned ? ", without a signature, because \(Settings.forwardKey.variable) is not set" : ""))
        }
    }

    /// Lists the apps that are refreshed from the App Store.
    private func reportAppStoreAPI(_ configuration: Configuration) {
        guard configuration.appStoreAPI != nil else {
            return report("customers would not be refreshed from the App Store")
        }
        let apps = (configuration.catalogue?.apps.keys).map(Array.init) ?? []
        let asked = apps.filter { configuration.issuerIDs[$0] != nil }.map(\.text.description).sorted()
        report(
            asked.isEmpty
                ? "no app would be refreshed from the App Store, because none has an issuer ID"
                : "data of the customers of \(asked.joined(separator: ", ")) would be refreshed from the App Store; --online tests it"
        )
    }

    /// Sends a request to the App Store with each key, and returns the problems with the keys that sign.
    private func onlineProblems(_ configuration: Configuration) async -> [Diagnostic] {
        let ring = AvailableKeys(configuration.keys).plan(from: KeyRing()).ring
        let apps = (configuration.catalogue?.apps.keys).map(Array.init) ?? []
        let asked = apps.filter { configuration.issuerIDs[$0] != nil }.sorted {
            $0.text.description < $1.text.description
        }
        guard !asked.isEmpty else {
            return [
                Diagnostic(
                    "the App Store cannot be queried: no app of the configuration file has an issuer ID",
                    hint:
                        "set \(Settings.issuerID.variable), and list your apps in \(Settings.configurationFile.variable)"
                )
            ]
        }
        let settings = configuration.appStoreAPI ?? AppStoreAPISettings()
        let transport: OutgoingClient
        do { transport = try settings.makeClient() } catch { return [error] }
        let results = await KeyProbe.results(
            of: ring, apps: asked, issuerIDs: configuration.issuerIDs, hosts: settings.hosts, transport: transport,
            now: SystemInputs.system.now)
        for warning in await retentionWarnings(configuration, ring: ring, settings, transport) {
            StandardStreams.print("warning: \(warning.error)\nhint: \(warning.hint)\n")
        }
        await transport.close()
        var problems: [Diagnostic] = []
        for result in results {
            guard let problem = result.problem(beside: results) else {
                report("the App Store accepts key \(result.keyID) for \(result.bundleID.text)")
                continue
            }
            if result.isWarning {
                StandardStreams.print("warning: \(problem.error)\nhint: \(problem.hint)\n")
            } else {
                problems.append(problem)
            }
        }
        return problems
    }

    /// Compares the catalogue with App Store Connect, and returns the faults that customers would meet.
    private func catalogueProblems(_ configuration: Configuration) async -> [Diagnostic] {
        guard let settings = configuration.appStoreConnect else { return [] }
        do {
            var problems: [Diagnostic] = []
            try await CatalogueAccess.run(settings, patience: Self.patience) { reader in
                for (bundleID, app) in try CatalogueAccess.apps(of: configuration, nil) {
                    let findings = try await CatalogueComparison.findings(bundleID, app, configuration, reader)
                    if findings.isEmpty { report("the catalogue of \(bundleID.text) agrees with App Store Connect") }
                    for finding in findings where finding.severity == .warning {
                        StandardStreams.print(
                            "warning: \(finding.diagnostic.error.printable)\nhint: \(finding.hint.printable)\n")
                    }
                    problems += findings.filter { $0.severity == .error }.map(\.diagnostic)
                }
            }
            return problems
        } catch let problem as Diagnostic {
            return [problem]
        } catch {
            return [Diagnostic("the catalogue cannot be compared: \(error)", hint: "see docs/catalogue.md")]
        }
    }

    /// The longest wait for the limit of App Store Connect.
    private static let patience = Duration.seconds(30)

    /// Checks with the App Store that it can show the configured messages to customers who are about to cancel.
    private func retentionWarnings(
        _ configuration: Configuration, ring: KeyRing, _ settings: AppStoreAPISettings, _ transport: OutgoingClient
    ) async -> [Diagnostic] {
        let policy = Policy(ring: ring, catalogue: configuration.catalogue, issuerIDs: configuration.issuerIDs)
        let client = AppStoreClient(
            hosts: settings.hosts,
            tokens: TokenSource(credentials: { policy.tokenCredentials }, now: SystemInputs.system.now),
            transport: transport, pacing: Pacing(now: SystemInputs.system.now))
        var warnings: [Diagnostic] = []
        for app in policy.syncableApps {
            guard let configured = policy.catalogue?.apps[app.bundleID], !configured.rules.retention.isEmpty else {
                continue
            }
            let found = await RetentionCheck(client: client, app: app, configured: configured).findings()
            for note in found.notes { StandardStreams.print("note: \(note.error)\nhint: \(note.hint)\n") }
            if found.warnings.isEmpty {
                report(
                    "the App Store can show the retention messages of \(app.bundleID.text) in \(app.environment.rawValue)"
                )
            }
            warnings += found.warnings
        }
        return warnings
    }

    private func auditProblems(_ configuration: Configuration) -> [Diagnostic] {
        guard let settings = configuration.audit else { return [] }
        let rules: AuditRules
        do {
            rules = try settings.rules
            try AuditFile.check(path: settings.path, rules: rules)
        } catch {
            return [AuditFault(error).problem]
        }
        report("the audit trail can be written to \(settings.path)")
        if let line = AuditFile.openBreak(path: settings.path, rules: rules) { return [AuditBreak.problem(line: line)] }
        if settings.key == nil { StandardStreams.print("hint: \(AuditSettings.noKey.hint)\n") }
        return []
    }

    /// Reports which App Store data is trusted. Roots other than Apple's cause only a warning, because tests use them.
    private func reportAppStoreData(_ settings: AppStoreSettings) {
        for problem in settings.problems {
            StandardStreams.print("warning: \(problem.error)\nhint: \(problem.hint)\n")
        }
        if settings.problems.isEmpty { report("App Store data is verified with Apple's roots") }
        report(
            settings.usesOCSP
                ? "OCSP responders would be queried about revoked certificates; not tried here"
                : "OCSP responders are not queried about revoked certificates")
    }

    /// Returns the problems that prevent opening the database. Nothing is created or changed.
    private func storeProblems(_ settings: StoreSettings?) -> [Diagnostic] {
        guard let settings else { return [] }
        do {
            switch try settings.location.inspect() {
            case .absent: report("the database of subscribers would be created: \(settings.location)")
            case .exists(settings.location.latestVersion):
                report("the database of subscribers is \(settings.location); database check reads it")
            case .exists(let version):
                report(
                    "the database of subscribers is \(settings.location); serve would upgrade it from version \(version) to "
                        + "version \(settings.location.latestVersion)")
            }
            return []
        } catch { return [error.diagnostic] }
    }

    /// Warns of samples that no longer have the size with which the service first ran.
    private func reportChangedSamples(_ configuration: Configuration) async {
        guard let location = configuration.store?.location, let catalogue = configuration.catalogue,
            catalogue.apps.values.contains(where: { !$0.rules.sampleSizes.isEmpty }),
            // Without one, there is nothing to compare.
            let store = try? location.open(.latestVersion)
        else { return }
        defer { try? store.close() }
        do {
            for problem in catalogue.changedSamples(since: try await store.sampleSizes()) {
                StandardStreams.print("warning: \(problem.error)\nhint: \(problem.hint)\n")
            }
        } catch {
            StandardStreams.print(
                "warning: the sizes of samples could not be read: \(error.diagnostic.error)\n"
                    + "hint: run doctor again when the database answers\n")
        }
    }

    private func clockProblems(_ configuration: Configuration) -> [Diagnostic] {
        let problem = ClockCheck.ofThisBuild.problem(now: .now, files: configuration.keys.folder.changeTimes())
        if problem == nil { report("the clock is plausible") }
        return problem.map { [$0] } ?? []
    }

    private func cryptographyProblems() -> [Diagnostic] {
        let problem = KnownAnswers().run().problem
        if problem == nil { report("the cryptography passes its known-answer tests") }
        return problem.map { [$0] } ?? []
    }

    func report(_ text: String) { StandardStreams.print("ok: \(text)\n") }
}
