package import OfferConfiguration
import OfferConsole
package import OfferCore
package import OfferHTTP
import OfferIdentity
package import OfferService
package import ServiceLifecycle
import SubscriberSync

/// The console: its pages and acts, wired to the parts of the service.
package enum Console {
    /// Makes the responder of the console's listener.
    /// - Parameter auditPath: the path of the audit trail; nil if there is none.
    /// - Returns: the responder, and the services that it needs.
    /// - Throws: a problem for the operator.
    package static func make(
        for application: Application, _ settings: ConsoleSettings, auditPath: String?
    ) throws(Diagnostic) -> (responder: any Responder, services: [any Service]) {
        let sessions = ConsoleSessions(store: application.store, origin: settings.origin)
        var (provider, services): (ProviderPages?, [any Service]) = (nil, [])
        if let configured = settings.provider {
            let client = try configured.settings.makeClient()
            services.append(ProviderClient(client: client))
            provider = ProviderPages(
                provider: OpenIDProvider(configured.settings, client: client), roles: configured.roles,
                name: String(configured.settings.issuer.text.dropFirst("https://".count).prefix { $0 != "/" }),
                store: application.store, sessions: sessions,
                acts: ConsoleActs(trail: application.trail), metrics: application.metrics, log: application.log)
        }
        let trials = RulesTrials(
            store: application.store, policy: application.policy, now: application.now, log: application.log)
        services.append(trials)
        let routes = routes(of: application, provider, trials: trials, auditPath: auditPath)
        return (ConsoleRouter(routes, of: application, origin: settings.origin, sessions: sessions), services)
    }

    static func routes(
        of application: Application, _ provider: ProviderPages? = nil, trials: RulesTrials, auditPath: String?
    ) -> [ConsoleRoute] {
        let (store, log) = (application.store, application.log)
        let acts = ConsoleActs(trail: application.trail)
        let pages =
            [
                FindPage(directory: application.directory, acts: acts).route,
                HealthPage(
                    health: application.health, keys: application.policy, metrics: application.metrics,
                    reports: { [metrics = application.metrics] in metrics.sync.figures.catalogueReports }
                ).route,
                AuditPage(acts: acts, store: store, path: auditPath, waitLimit: application.searchWait).route,
            ] + CustomerPage(directory: application.directory, store: store, acts: acts, log: log).routes
            + GrantPage(desk: application.desk, store: store, acts: acts, log: log).routes
            + OffersPage(store: store).routes
            + WorklistsPage(store: store, acts: acts, metrics: application.metrics).routes
            + GrantsPage(desk: application.desk, acts: acts).routes
            + ReportsPage(desk: application.reports, acts: acts).routes
            + SubscriptionReportsPage(desk: application.reports, acts: acts).routes
            + RulesPage(trials: trials, acts: acts).routes + AlarmsPage(store: store, acts: acts).routes
            + DeliveriesPage(store: store, acts: acts, metrics: application.metrics).routes
        let signIn = SignInPages(
            store: store, acts: acts, pages: pages, provider: provider, metrics: application.metrics, log: log)
        return signIn.routes + pages
    }
}
