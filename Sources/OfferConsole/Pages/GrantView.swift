package import OfferCore

/// A grant of one offer to one customer, as pages show it.
package final class GrantView: Sendable {
    package enum State: Sendable { case awaitingApproval, open, signed, redeemed, expired, withdrawn }

    /// A person and a time.
    package final class Act: Sendable {
        let person: String
        let at: Timestamp

        package init(by person: String, at: Timestamp) {
            self.person = person
            self.at = at
        }
    }

    package final class Purpose: Sendable {
        let reason: String
        let note: String?
        let ticket: String?

        package init(reason: String, note: String?, ticket: String?) {
            self.reason = reason
            self.note = note
            self.ticket = ticket
        }
    }

    let id: String
    let app: String
    let environment: String
    let productID: String
    let offerID: String
    let state: State
    let purpose: Purpose
    let liftsLimits: Bool
    let made: Act
    let expiresAt: Timestamp
    /// nil if no approval was given.
    let approved: Act?
    let withdrawn: Act?
    /// nil if the customer was erased, or the person may not open customers.
    let customer: PageAddress?
    /// False if the person who looks at the page made the grant.
    let isApprovable: Bool

    package init(
        id: String, app: String, environment: String, productID: String, offerID: String, state: State,
        purpose: Purpose, liftsLimits: Bool, made: Act, expiresAt: Timestamp, approved: Act?, withdrawn: Act?,
        customer: PageAddress?, isApprovable: Bool
    ) {
        self.id = id
        self.app = app
        self.environment = environment
        self.productID = productID
        self.offerID = offerID
        self.state = state
        self.purpose = purpose
        self.liftsLimits = liftsLimits
        self.made = made
        self.expiresAt = expiresAt
        self.approved = approved
        self.withdrawn = withdrawn
        self.customer = customer
        self.isApprovable = isApprovable
    }

    private var badge: HTML {
        switch state {
        case .awaitingApproval: Blocks.badge(.warning, "waits for approval")
        case .open: Blocks.badge(.good, "open")
        case .signed: Blocks.badge(.accent, "signed")
        case .redeemed: Blocks.badge(.good, "\(Icon.tick)redeemed")
        case .expired: Blocks.badge(.neutral, "expired")
        case .withdrawn: Blocks.badge(.neutral, "withdrawn")
        }
    }

    private var mayWithdraw: Bool { [.awaitingApproval, .open, .signed].contains(state) }

    /// The grant as a card with its acts.
    /// - Parameters:
    ///   - back: the page that follows an act.
    ///   - showsCustomer: true on a page about several customers.
    func html(_ clock: ConsoleClock, now: Timestamp, back: PageAddress, showsCustomer: Bool) -> HTML {
        let place: HTML? = showsCustomer ? "<dt>App</dt><dd>\(UserText.text(app)), \(environment)</dd>" : nil
        let open: HTML? =
            showsCustomer ? customer.map { #"<p><a class="button" href="\#($0)">Open the customer</a></p>"# } : nil
        let note = purpose.note.map { "<dt>Note</dt><dd>\(UserText.text($0))</dd>" as HTML }
        let ticket = purpose.ticket.map { "<dt>Ticket</dt><dd>\(UserText.text($0))</dd>" as HTML }
        let limits: HTML? = liftsLimits ? "<dt>Limits</dt><dd>those of the customer are lifted</dd>" : nil
        let approval = approved.map { act("Approved", $0, clock, now) }
        let withdrawal = withdrawn.map { act("Withdrawn", $0, clock, now) }
        return """
            <li class="grant"><h3>\(UserText.code(offerID)) <span class="note">for</span> \(UserText.code(productID)) \
            \(badge)</h3>
            <dl class="pairs">\(place)<dt>Reason</dt><dd>\(UserText.text(purpose.reason))</dd>\(note)\(ticket)\(limits)
            \(act("Made", made, clock, now))\(approval)\(withdrawal)
            <dt>Expires</dt><dd>\(clock.html(expiresAt, now: now))</dd></dl>
            <div class="acts">\(open)\(approveForm(back))\(withdrawForm(back))</div></li>

            """
    }

    private func act(_ name: StaticString, _ act: Act, _ clock: ConsoleClock, _ now: Timestamp) -> HTML {
        "<dt>\(name)</dt><dd>by \(UserText.text(act.person)), \(clock.html(act.at, now: now))</dd>"
    }

    private func approveForm(_ back: PageAddress) -> HTML? {
        guard state == .awaitingApproval else { return nil }
        guard isApprovable else { return #"<p class="note">Another person must approve it.</p>"# }
        return form("/grants/approve", "Approve", back)
    }

    private func withdrawForm(_ back: PageAddress) -> HTML? {
        mayWithdraw ? form("/grants/withdraw", "Withdraw", back) : nil
    }

    private func form(_ path: StaticString, _ title: StaticString, _ back: PageAddress) -> HTML {
        """
        <form method="post" action="\(path)"><input type="hidden" name="grant" value="\(id)">\(back.hiddenFields)
        <button>\(title) <span class="visually-hidden">the grant of \(UserText.short(offerID, bytes: 64))</span>\
        </button></form>
        """
    }
}
