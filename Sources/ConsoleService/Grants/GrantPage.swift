import Logging
import OfferAudit
import OfferConfiguration
import OfferConsole
import OfferCore
import OfferEligibility
import OfferHTTP
import OfferService
import SubscriberStore
import SubscriberSync

/// `GET /grant` and `POST /grant`: a person grants an offer to a customer.
struct GrantPage: Sendable {
    let desk: GrantDesk
    let store: CurrentStore
    let acts: ConsoleActs
    let log: Logger

    private static let offerFields =
        CustomerAddress.fields + [
            FormReader.Field("product", maximumBytes: 255), FormReader.Field("offer", maximumBytes: 255),
        ]
    private static let fields =
        offerFields + [
            FormReader.Field("reason", maximumBytes: 64), FormReader.Field("note", maximumBytes: 4096),
            FormReader.Field("ticket", maximumBytes: 512), FormReader.Field("days", maximumBytes: 8),
            FormReader.Field("liftsLimits", maximumBytes: 3),
        ]

    var routes: [ConsoleRoute] {
        let access = ConsoleRoute.Access.roles(ConsoleSection.find.roles)
        return [
            .page("/grant", for: access, Self.offerFields, answer), .act("/grant", for: access, Self.fields, make),
        ]
    }

    @Sendable private func answer(_ request: ConsoleRequest) async throws(ConsoleRefusal) -> ConsoleAnswer {
        let order = try Order(request)
        guard !request.isFromAnotherSite else { return .redirect(PageAddress("/find")) }
        try await acts.record(.customer, request, app: order.address.app, customer: order.address.identifier.utf8)
        return .page(try await form(order, request, GrantFormView.Values(), problem: nil))
    }

    @Sendable private func make(_ request: ConsoleRequest) async throws(ConsoleRefusal) -> ConsoleAnswer {
        guard let session = request.session else { throw .signIn(nil) }
        let order = try Order(request)
        let values = GrantFormView.Values(
            reason: request.values["reason"] ?? "", note: request.values["note"] ?? "",
            ticket: request.values["ticket"] ?? "", days: request.values["days"] ?? "",
            liftsLimits: request.values["liftsLimits"] == "yes")
        func refuse(_ problem: String) async throws(ConsoleRefusal) -> ConsoleAnswer {
            // The form shows what would refuse the offer to the customer.
            try await acts.record(.customer, request, app: order.address.app, customer: order.address.identifier.utf8)
            return .page(try await form(order, request, values, problem: problem), status: 400)
        }
        let liftsLimits = request.values["liftsLimits"] == "yes"
        guard !liftsLimits || session.account.mayLiftLimits else { throw .problem(.forbidden([.marketing])) }
        guard let days = Int((request.values["days"] ?? "").trimmingSpaces), (1...366).contains(days) else {
            return try await refuse("The number of days must be from 1 to 366.")
        }
        let note = (request.values["note"] ?? "").trimmingSpaces
        let ticket = (request.values["ticket"] ?? "").trimmingSpaces
        guard note.utf8.count <= OfferGrant.Purpose.maximumNoteSize,
            ticket.utf8.count <= OfferGrant.Purpose.maximumTicketSize
        else { return try await refuse("The note or the ticket is too long.") }
        do throws(OfferService.Problem) {
            let prepared = try await desk.prepare(
                GrantOrder(
                    customer: order.address.reference, productID: order.productID, offerID: order.offerID,
                    purpose: OfferGrant.Purpose(
                        reason: request.values["reason"] ?? "", note: note.isEmpty ? nil : note,
                        ticket: ticket.isEmpty ? nil : ticket),
                    expiresAt: request.now + .hours(24 * days), liftsLimits: liftsLimits),
                by: OfferGrant.Person(session.account), of: order.app, at: request.now)
            let stored = StoredGrant(app: prepared.app, grant: prepared.grant)
            _ = try await acts.record(.grant, of: stored, by: session.account, request) {
                () async throws(OfferService.Problem) in try await desk.make(prepared)
            }
            return .redirect(order.address.page)
        } catch {
            guard [.grantExists, .invalidField].contains(error.code) else { throw request.refusal(error) }
            return try await refuse(error.detail)
        }
    }

    /// The offer and the customer that a request names.
    private struct Order {
        let address: CustomerAddress
        let app: Catalogue.App
        let productID: ProductID
        let offerID: OfferID
        let terms: OfferTerms
        let policy: GrantPolicy

        init(_ request: ConsoleRequest) throws(ConsoleRefusal) {
            address = try CustomerAddress(request.values)
            app = try request.app(address.app.bundleID)
            let (product, offer) = (request.values["product"] ?? "", request.values["offer"] ?? "")
            guard let productID = try? ProductID(utf8: Array(product.utf8), field: "product"),
                let offerID = try? OfferID(utf8: Array(offer.utf8)),
                let terms = app.rules.terms(of: productID, offerID)
            else { throw .problem(.notFound) }
            guard let policy = app.rules.grants else { throw .problem(.badRequest(Problem.grantsNotConfigured.detail)) }
            (self.productID, self.offerID, self.terms, self.policy) = (productID, offerID, terms, policy)
        }
    }

    private func form(
        _ order: Order, _ request: ConsoleRequest, _ values: GrantFormView.Values, problem: String?
    ) async throws(ConsoleRefusal) -> HTML {
        guard let session = request.session else { throw .signIn(nil) }
        let person = OfferGrant.Person(session.account)
        do throws(OfferService.Problem) {
            let budget = try await desk.budget(of: person, in: order.address.app, order.policy, at: request.now)
            let view = GrantFormView(
                frame: request.frame(), customer: order.address.page,
                offer: GrantFormView.Offer(order.terms),
                choices: GrantFormView.Choices(
                    reasons: order.policy.reasons, days: order.policy.days,
                    mayLiftLimits: session.account.mayLiftLimits, budget: budget),
                values: values,
                stillRefused: (
                    keepingLimits: try await reasons(order, request, person, liftsLimits: false),
                    liftingLimits: try await reasons(order, request, person, liftsLimits: true)
                ), problem: problem)
            return view.html
        } catch { throw request.refusal(error) }
    }

    /// Returns the reasons that would refuse the offer to the customer under a grant.
    private func reasons(
        _ order: Order, _ request: ConsoleRequest, _ person: OfferGrant.Person, liftsLimits: Bool
    ) async throws(OfferService.Problem) -> [OfferVerdict.Reason] {
        let grant = OfferGrant(
            id: UUIDText(high: 0, low: 0), subject: .customer(order.address.identifier), account: nil,
            productID: order.productID, offerID: order.offerID, purpose: OfferGrant.Purpose(reason: ""),
            liftsLimits: liftsLimits, maker: person,
            at: request.now, expiresAt: request.now + order.policy.lifetime, approval: .notNeeded)
        let decision = try await CustomerDecision(
            about: order.address.identifier, of: order.app, order.address.app.bundleID,
            in: order.address.app.environment, productIDs: [order.productID], granting: grant, store: store,
            at: request.now, log: log)
        let verdict = decision.verdicts.first {
            $0.offer.productID == order.productID && $0.offer.offerID == order.offerID
        }
        return verdict?.reasons.map(OfferVerdict.Reason.init) ?? []
    }
}

extension GrantFormView.Offer {
    fileprivate convenience init(_ terms: OfferTerms) {
        self.init(
            productID: terms.productID.text.description, offerID: terms.offerID.text.description,
            rule: terms.rule.text, ruleName: terms.rule.name, limits: terms.limits.texts, total: terms.limits.total)
    }
}

extension GrantPolicy {
    /// The lifetime in days, rounded up.
    fileprivate var days: Int { Int((lifetime.components.seconds + 86_399) / 86_400) }
}

extension ConsoleAccount {
    /// True if the person may make grants that lift the limits of the customer.
    fileprivate var mayLiftLimits: Bool { consoleRoles.contains(.marketing) }
}
