import AppStoreAPI
import AppStoreData
import Foundation
import Logging
import OfferCore
import OfferCrypto
import OfferEligibility
import OfferHTTP
import StoreTestSupport
import SubscriberStore
import TestSupport
import Testing

@testable import AppStoreTestSupport
@testable import OfferConfiguration
@testable import OfferService
@testable import SubscriberSync

/// A week of customers whose events are found and delivered by processes of their own.
final class EventWeek {
    private static let app = Sample.production
    private static let month: Int64 = 15 * 86_400_000
    private static let offers = """
        {offerID: retention_50off_3m, rule: renewing, limits: {perCustomer: 1}}, \
        {offerID: stay, rule: leaving, limits: {perCustomer: 1}}, \
        {offerID: soon, rule: {subscription: {status: active, endsIn: {atMost: 30h}}}, limits: {cooldown: 50h}}, \
        {offerID: back, rule: {subscription: {status: expired, endedAgo: {atLeast: 7h, atMost: 3d}}}}, \
        {offerID: pay, rule: {subscription: {status: billing_retry}}, priority: 2}
        """

    let receiver: EventReceiver
    let processes: EventProcesses
    private(set) var reference: EventReference
    private let folder: TemporaryFolder
    private let store: CurrentStore
    private let service: TestService
    private let catalogue: Catalogue.App
    private let world: StandInWorld
    private let directed: Int
    private var random = SplitMix64(seed: 49)
    private(set) var now: Int64
    /// The accounts of customers, by their numbers.
    private var accounts: [Int: String] = [:]
    /// The directed customers who have redeemed an offer, and when they go on.
    private var waits: [Int: Int64] = [:]
    private var signed: [Int: EventReference.Offer] = [:]

    /// - Parameters:
    ///   - location: of an empty database; nil for a new one in SQLite.
    ///   - customers: a fifth of them do what the test tells them.
    init(customers: Int, in location: StoreLocation?, processes count: Int) async throws {
        folder = try TemporaryFolder()
        let location = location ?? .sqlite(path: folder.path + "/store.sqlite")
        try NotificationSigner.make(in: folder.path + "/chain")
        receiver = try await EventReceiver(folder: folder.path + "/tls")
        now = Int64(Date().timeIntervalSince1970 * 1000)
        directed = customers / 5
        var settings = StandInWorld.Settings()
        settings.customers = customers - directed
        // Periods are half as long as usual, so that more of them end in a week.
        settings.clock = WorldClock(month: Self.month)
        world = try StandInWorld(settings, start: now, folder: folder.path + "/chain")
        let yaml = """
            apps:
              - bundleID: com.example.app
                appAppleID: 1234567890
                events: {to: ["\(receiver.url)"]}
                grants: {reasons: [goodwill], dailyBudget: 100000}
                products:
                  - {productID: com.example.app.pro.weekly, offers: [\(Self.offers)]}
                  - {productID: com.example.app.pro.monthly, offers: [{offerID: retention_50off_3m, rule: {everSubscribed: true}}]}
                  - {productID: com.example.app.max.monthly, offers: []}
            rules:
              renewing: {subscription: {status: active, autoRenew: on}}
              leaving: {subscription: {status: active, autoRenew: off}}
            """
        try folder.write(yaml.utf8, to: "offers.yaml")
        let (file, problems) = ConfigurationFile.read(Array(yaml.utf8), name: "offers.yaml")
        try #require(problems.isEmpty, "\(problems)")
        let catalogue = try #require(file.catalogue)
        self.catalogue = try #require(catalogue.apps[Sample.bundleID])
        store = CurrentStore(
            StoreSettings(location: location), store: try location.open(), log: RecordedLog(level: .error).logger)
        let roots = try X509Certificate.readAll(
            [UInt8](Data(contentsOf: URL(filePath: folder.path + "/chain/" + NotificationSigner.rootFile))))
        service = try TestService(
            catalogue: catalogue, appStore: AppStoreSettings(roots: TrustedRoots(roots)), store: store,
            parts: { [trail = try await StoreService.trail(in: folder)] in $0.safeguards.trail = trail })
        reference = EventReference(since: now)
        let decided = self.catalogue.rules.offers.map {
            LedgerOffer(app: Self.app, productID: $0.productID, offerID: $0.offerID)
        }
        try await store.beginLedger(
            LedgerCoverage(apps: [Self.app], decided: Set(decided)), at: Timestamp(milliseconds: now))
        let database =
            switch location {
            case .sqlite(let path): "sqlite:" + path
            case .postgreSQL(let url): url
            }
        processes = try EventProcesses(count: count, [database, folder.path + "/offers.yaml", receiver.rootPath])
        // Events begin before the first customer is known.
        try await store.beginReviews(
            of: Self.app, by: Hexadecimal.text(of: catalogue.digest), at: Timestamp(milliseconds: now))
    }

    // MARK: Steps

    /// Lets some hours pass, in which customers live. Then the processes find the events of that time.
    /// - Parameter isDelivered: true to wait until the receiver has accepted everything.
    func pass(hours: Int64, isDelivered: Bool) async throws {
        now += hours * 3_600_000 + Int64.random(in: 0..<3_600_000, using: &random)
        service.setTime(Timestamp(milliseconds: now))
        var notifications = world.advance(to: now)
        notifications += try direct()
        for notification in notifications {
            guard let event = notification.event else { continue }
            reference.take(event)
            if let account = event.account { accounts[event.customer] = account }
        }
        notifications += notifications.filter { _ in Int.random(in: 0..<5, using: &random) == 0 }
        for notification in notifications.shuffled(using: &random) {
            let body = #"{"signedPayload":"\#(try world.signedPayload(of: notification))"}"#
            let response = await service.postLater("/v1/app-store-notifications", body)
            try #require(response.status == 200, "\(response.text)")
        }
        try await use()
        processes.deliver(at: now)
        processes.find(at: now)
        try await waitUntil {
            try self.processes.replaceKilled()
            return try await !self.store.hasDueReviews(Self.app, at: Timestamp(milliseconds: self.now))
        }
        try await processes.rest()
        reference.look(at: now, eligible: try await eligible())
        if isDelivered { try await deliver() }
    }

    /// Waits until the receiver has accepted everything, while time passes for deliveries.
    func deliver() async throws {
        var time = now
        try await waitUntil {
            try self.processes.replaceKilled()
            time += 60_000
            self.processes.deliver(at: time)
            return try await self.store.receivers().allSatisfy { $0.pending == 0 }
        }
    }

    func end() async throws {
        processes.stop()
        await receiver.stop()
        try store.store?.close()
    }

    // MARK: Customers

    /// Lets each directed customer do something now and then.
    private func direct() throws -> [StandInWorld.Notification] {
        var notifications: [StandInWorld.Notification] = []
        for place in 0..<directed where Int.random(in: 0..<3, using: &random) == 0 {
            let (name, number) = ("directed \(place)", world.settings.customers + place)
            let product = "com.example.app.pro.weekly"
            guard let known = try? world.customer(named: name, at: now) else {
                let account = WorldCustomer.uuid(random.next(), random.next())
                notifications.append(world.subscribe(name, account: account, to: product, at: now))
                continue
            }
            guard waits[number, default: 0] <= now else { continue }
            if let offer = signed[number], known.status == 1 || known.status == 2 {
                signed[number] = nil
                notifications.append(try world.redeem(offer.offerID, of: offer.productID, by: name, at: now))
                // Until the period with the offer is over.
                waits[number] = now + Self.month / 2
            } else if known.status == 1 {
                notifications.append(try world.setAutoRenew(Bool.random(using: &random), of: name, at: now))
            }
        }
        return notifications
    }

    /// Apps show offers and request signatures.
    private func use() async throws {
        for (number, account) in accounts.sorted(by: { $0.key < $1.key })
        where Int.random(in: 0..<12, using: &random) == 0 {
            try await grant(to: number, account)
            // Some signatures are too young to count when the processes look.
            let time = now - Int64.random(in: 0..<25_000, using: &random)
            service.setTime(Timestamp(milliseconds: time))
            let names = #""bundleID":"com.example.app","appAccountToken":"\#(account)""#
            let placement = ["settings", "cancel", nil].randomElement(using: &random) ?? nil
            let place = placement.map { #","placement":"\#($0)""# } ?? ""
            let response = await service.postLater("/v1/decisions", #"{\#(names),"sign":"best"\#(place)}"#)
            try #require(response.status == 200, "\(response.text)")
            let offers = response.json["offers"] as? [[String: Any]] ?? []
            for offer in offers where offer["signature"] != nil {
                let rule = offer["rule"] as? String
                let offer = EventReference.Offer(
                    productID: offer["productID"] as? String ?? "", offerID: offer["offerID"] as? String ?? "")
                reference.sign(offer, by: rule, in: placement, for: number, at: time)
                signed[number] = offer
                guard Bool.random(using: &random) else { continue }
                let shown = min(now, time + 1000)
                service.setTime(Timestamp(milliseconds: shown))
                let event =
                    #"{"event":"shown","productID":"\#(offer.productID)","offerID":"\#(offer.offerID)","#
                    + #""appAccountToken":"\#(account)"}"#
                let response = await service.postLater(
                    "/v1/offers/events", #"{"bundleID":"com.example.app","events":[\#(event)]}"#)
                try #require(response.status == 204, "\(response.text)")
                reference.show(offer, to: number, at: shown)
            }
        }
        service.setTime(Timestamp(milliseconds: now))
    }

    /// Support gives some customers an offer that no rule gives them.
    private func grant(to number: Int, _ account: String) async throws {
        guard Int.random(in: 0..<3, using: &random) == 0 else { return }
        let offer = EventReference.Offer(
            productID: "com.example.app.pro.weekly", offerID: ["stay", "back"].randomElement(using: &random) ?? "")
        service.setTime(Timestamp(milliseconds: now))
        let response = await service.postLater(
            "/v1/grants",
            #"{"bundleID":"com.example.app","appAccountToken":"\#(account)","productID":"\#(offer.productID)","#
                + #""offerID":"\#(offer.offerID)","reason":"goodwill"}"#)
        // One that is open already stays.
        guard response.status != 409 else { return }
        try #require(response.status == 200 || response.status == 201, "\(response.text)")
        reference.grant(offer, to: number, at: now)
    }

    /// The offers that each customer may have, as a decision says, with the names of their rules.
    private func eligible() async throws -> [Int: [EventReference.Offer: String?]] {
        let (store, catalogue, time) = (store, catalogue, Timestamp(milliseconds: now))
        var rest = Array(reference.numbers)[...]
        var found: [Int: [EventReference.Offer: String?]] = [:]
        while !rest.isEmpty {
            let group = rest.prefix(8)
            rest = rest.dropFirst(8)
            try await withThrowingTaskGroup(of: (Int, [EventReference.Offer: String?]).self) { tasks in
                for (original, number) in group {
                    tasks.addTask {
                        let decision = try await CustomerDecision(
                            about: .originalTransactionID(Sample.id(original)), of: catalogue, Sample.bundleID, in: nil,
                            productIDs: nil, store: store, at: time, log: RecordedLog(level: .error).logger)
                        let offers = decision.verdicts.filter(\.reasons.isEmpty).map {
                            let offer = EventReference.Offer(
                                productID: "\($0.offer.productID.text)", offerID: "\($0.offer.offerID.text)")
                            return (offer, $0.offer.rule.name)
                        }
                        return (number, Dictionary(uniqueKeysWithValues: offers))
                    }
                }
                for try await (number, offers) in tasks { found[number] = offers }
            }
        }
        return found
    }
}

extension CurrentStore {
    fileprivate func hasDueReviews(_ app: AppScope, at now: Timestamp) async throws -> Bool {
        try await !dueReviews(of: app, by: now, limit: 1).isEmpty
    }
}
