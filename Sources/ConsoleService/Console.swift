package import OfferConfiguration
import OfferConsole
package import OfferService

/// The console: its pages and acts, wired to the parts of the service.
package enum Console {
    /// Makes the responder of the console's listener.
    /// - Parameter auditPath: the path of the audit trail; nil if there is none.
    package static func router(
        of application: Application, _ settings: ConsoleSettings, auditPath: String?
    ) -> ConsoleRouter {
        let sessions = ConsoleSessions(store: application.store, origin: settings.origin)
        return ConsoleRouter(
            routes(of: application, auditPath: auditPath), of: application, origin: settings.origin, sessions: sessions)
    }

    static func routes(of application: Application, auditPath: String?) -> [ConsoleRoute] {
        let (store, log) = (application.store, application.log)
        let acts = ConsoleActs(trail: application.trail)
        let pages = [
            FindPage(directory: application.directory, acts: acts).route,
            CustomerPage(directory: application.directory, store: store, acts: acts, log: log).route,
            OffersPage(store: store).route, HealthPage(health: application.health).route,
            AuditPage(acts: acts, path: auditPath).route,
        ]
        let alarms = AlarmsPage(store: store, acts: acts).routes
        return SignInPages(store: store, acts: acts, pages: { pages + alarms }, log: log).routes + pages + alarms
    }
}
