public import Foundation

/// Lists, signs and reports the promotional offers of one customer.
///
/// It keeps everything in memory and forgets it when the customer signs out. An app has one client.
public actor OfferClient {
    let bundleID: String
    let api: OfferAPI
    let runtime: ClientRuntime
    let transport: any OfferTransport
    let token: (@Sendable () async throws -> String?)?

    /// The signed-in customer, with an identifier of the sign-in.
    private(set) var signedIn: (customer: OfferCustomer, session: UUID)?
    /// Requests for signatures whose outcome is unknown, to be repeated unchanged: the service then reserves nothing twice.
    var unanswered: [Slot: UnansweredRequest] = [:]
    var inProgress: Set<Slot> = []
    var clock = ServerClock()
    var environment: String?
    var events: [ReportedEvent] = []
    /// The latest report of a purchase, which waits for the earlier ones.
    var reporting: Task<Void, Never>?

    /// - Parameters:
    ///   - bundleID: spelled exactly as in Xcode.
    ///   - token: returns the signed-in user's bearer token; nil for none. The client calls it for every request, and keeps no token.
    ///     Never build a caller's token into an app: anyone can read it there.
    public init(
        bundleID: String, transport: any OfferTransport, api: OfferAPI = .v1,
        token: (@Sendable () async throws -> String?)? = nil
    ) {
        self.init(bundleID: bundleID, transport: transport, api: api, token: token, runtime: .live)
    }

    init(
        bundleID: String, transport: any OfferTransport, api: OfferAPI = .v1,
        token: (@Sendable () async throws -> String?)? = nil, runtime: ClientRuntime
    ) {
        self.bundleID = bundleID
        self.transport = transport
        self.api = api
        self.token = token
        self.runtime = runtime
    }
}

/// The client's dependencies on its surroundings: waiting, a clock that only measures, and new keys.
struct ClientRuntime: Sendable {
    var sleep: @Sendable (_ seconds: Int) async throws -> Void
    var uptime: @Sendable () -> TimeInterval
    var makeKey: @Sendable () -> String

    static let live = ClientRuntime(
        sleep: { try await Task.sleep(nanoseconds: UInt64($0) * 1_000_000_000) },
        uptime: { ProcessInfo.processInfo.systemUptime }, makeKey: { UUID().uuidString.lowercased() })
}

// MARK: The customer

extension OfferClient {
    /// Sets the customer. Another customer's offers become unusable.
    public func signIn(_ customer: OfferCustomer) {
        guard signedIn?.customer != customer else { return }
        signOut()
        signedIn = (customer, UUID())
    }

    /// Forgets the customer with everything that belongs to them, including events that are not delivered yet.
    ///
    /// Call it whenever a user signs out, above all with ``OfferCustomer/signedInUser``: the client cannot tell two users apart.
    public func signOut() {
        signedIn = nil
        unanswered = [:]
        inProgress = []
        environment = nil
        events = []
    }

    func current() throws(OfferError) -> (customer: OfferCustomer, session: UUID) {
        guard let signedIn else { throw OfferError(.signedOut, "call signIn(_:) first") }
        return signedIn
    }

    func check(_ session: UUID) throws(OfferError) {
        guard signedIn?.session == session else { throw OfferError(.signedOut, "the customer signed out meanwhile") }
    }
}

// MARK: Offers

extension OfferClient {
    /// Lists the offers that the customer may have, the best first. Nothing is signed or reserved.
    /// - Parameters:
    ///   - placement: the place in the app, such as `cancel`, for rules that test it.
    ///   - productIDs: the products to consider; empty for all.
    ///   - link: the link of a campaign that the customer opened, as the system passed it to the app. ``OfferList/link`` says
    ///     what became of it.
    public func offers(
        at placement: String? = nil, of productIDs: [String] = [], link: URL? = nil, proofs: DeviceProofs = .none
    ) async throws(OfferError) -> OfferList {
        guard !api.isSample else { throw OfferError(.notSupported, "Apple's sample cannot list offers") }
        let (customer, session) = try current()
        let body = DecisionRequest(
            bundleID: bundleID, appAccountToken: customer.appAccountToken,
            applicationUsername: customer.applicationUsername, transactionID: proofs.transactionID,
            environment: proofs.environment, placement: placement, link: link?.withoutQuery,
            productIDs: productIDs.isEmpty ? nil : productIDs,
            proofs: ProofsBody(proofs))
        var budget = FetchBudget()
        let answer = try await exchange(
            KeyedRequest(key: runtime.makeKey(), path: "v1/decisions", body: body.json), &budget)
        try check(session)
        let list = try decode(DecisionAnswer.self, answer)
            .list(placement: placement, session: session, link: link)
        environment = list.environment
        return list
    }

    /// An offer without a rule, which no list contains. The service refuses it when it is signed if it is not in the
    /// configuration.
    public func offer(productID: String, offerID: String, billingPlan: BillingPlan? = nil) throws(OfferError) -> Offer {
        Offer(
            productID: productID, offerID: offerID, billingPlan: billingPlan, placement: nil, link: nil,
            session: try current().session)
    }
}
