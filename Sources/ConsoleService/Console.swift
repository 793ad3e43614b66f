package import OfferConfiguration
import OfferConsole
package import OfferService

/// The console: its pages and acts, wired to the parts of the service.
package enum Console {
    /// Makes the responder of the console's listener.
    package static func router(of application: Application, _ settings: ConsoleSettings) -> ConsoleRouter {
        let sessions = ConsoleSessions(store: application.store, origin: settings.origin)
        return ConsoleRouter(
            routes(of: application), of: application, origin: settings.origin, sessions: sessions)
    }

    static func routes(of application: Application) -> [ConsoleRoute] {
        let (store, log) = (application.store, application.log)
        let acts = ConsoleActs(trail: application.trail)
        let pages = [
            FindPage(directory: application.directory, acts: acts).route,
            CustomerPage(directory: application.directory, store: store, acts: acts, log: log).route,
        ]
        return SignInPages(store: store, acts: acts, pages: { pages }, log: log).routes + pages
    }
}
