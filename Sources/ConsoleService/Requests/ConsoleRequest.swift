import OfferConfiguration
import OfferConsole
import OfferCore
import OfferEligibility
import OfferHTTP
import SubscriberStore

/// A request that has passed the checks that all pages share.
struct ConsoleRequest: Sendable {
    let http: HTTPRequest
    let policy: Policy
    /// A valid session; nil without one.
    let session: ConsoleSession?
    let clock: ConsoleClock
    let now: Timestamp
    let values: FormValues
    let version: String

    /// nil without a session.
    var person: ConsolePerson? { session.map { ConsolePerson($0.account) } }

    /// The frame of a page.
    /// - Parameter address: the address of the page; nil if it answers a form.
    func frame(at address: PageAddress? = nil) -> PageFrame {
        PageFrame(person: person, clock: clock, version: version, address: address)
    }

    func hasRole(in section: ConsoleSection) -> Bool {
        session.map { section.roles.contains(where: Set($0.account.consoleRoles).contains) } ?? false
    }

    /// True if a page of another site leads here. A link there must not look at customers in the person's name.
    var isFromAnotherSite: Bool {
        http.browser?.fetchSite.map { !["same-origin", "none"].contains($0) } ?? false
    }

    /// Returns an app of the configuration.
    func app(_ bundleID: BundleID) throws(ConsoleRefusal) -> Catalogue.App {
        guard let app = policy.catalogue?.apps[bundleID] else { throw .problem(.notFound) }
        return app
    }

    /// The refusal for a store or an audit trail that does not answer.
    var unavailable: ConsoleRefusal { .problem(.unavailable(requestID: http.id.text)) }
}

extension ConsoleAccount {
    /// The name and, for a person of an identity provider, the identifier: several people can have one name.
    var label: String { subject.map { "\(name) (\($0))" } ?? name }

    /// The roles that this version knows.
    var consoleRoles: [ConsoleRole] { roles.compactMap(ConsoleRole.init) }
}

extension ConsolePerson {
    init(_ account: ConsoleAccount) { self.init(name: account.name, roles: account.consoleRoles) }
}
