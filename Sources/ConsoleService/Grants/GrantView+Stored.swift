import OfferConsole
import OfferCore
import OfferEligibility
import OfferService
import SubscriberStore

extension GrantView {
    /// - Parameter opensCustomers: true if the person may open customers. Others see neither the customer nor what was
    ///   written about the customer.
    convenience init(
        _ stored: StoredGrant, _ state: OfferGrant.State, for person: OfferGrant.Person, opensCustomers: Bool
    ) {
        let grant = stored.grant
        let approval: OfferGrant.Act? = if case .given(let act) = grant.approval { act } else { nil }
        self.init(
            id: grant.id.description, app: stored.app.bundleID.text.description,
            environment: stored.app.environment.rawValue, productID: grant.productID.text.description,
            offerID: grant.offerID.text.description, state: State(state),
            purpose: Purpose(
                reason: grant.purpose.reason, note: opensCustomers ? grant.purpose.note : nil,
                ticket: opensCustomers ? grant.purpose.ticket : nil),
            liftsLimits: grant.liftsLimits, made: Act(by: grant.maker.label, at: grant.at),
            expiresAt: grant.expiresAt, approved: approval.map { Act(by: $0.person.label, at: $0.at) },
            withdrawn: grant.withdrawal.map { Act(by: $0.person.label, at: $0.at) },
            customer: opensCustomers
                ? grant.subject.customer.map { CustomerAddress(stored.app, $0).page } : nil,
            isApprovable: !grant.maker.mayBe(person))
    }
}

extension ConsoleRequest {
    /// Returns the grants of a customer for the customer's page, the latest first.
    func grants(of customer: KnownCustomer) -> [GrantView] {
        guard let session else { return [] }
        return customer.owned.grants.reversed().map { grant in
            GrantView(
                StoredGrant(app: customer.owned.app, grant: grant), grant.state(customer.ledger, at: now),
                for: OfferGrant.Person(session.account), opensCustomers: true)
        }
    }
}

extension GrantView.State {
    fileprivate init(_ state: OfferGrant.State) {
        self =
            switch state {
            case .awaitingApproval: .awaitingApproval
            case .open: .open
            case .signed: .signed
            case .redeemed: .redeemed
            case .expired: .expired
            case .withdrawn: .withdrawn
            }
    }
}

extension OfferGrant.Person {
    init(_ account: ConsoleAccount) { self.init(account.name, subject: account.subject) }

    /// The name as the console shows it.
    var label: String { ConsoleAccount(name: name, subject: subject, roles: []).label }
}
