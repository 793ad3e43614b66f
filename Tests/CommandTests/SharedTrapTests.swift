import AppStoreData
import AppStoreTestSupport
import Foundation
import OfferCore
import OfferEligibility
import StoreTestSupport
import SubscriberStore
import TestSupport
import Testing

@testable import HistoryTestSupport

/// The known traps in the App Store's data, with three processes and one database.
///
/// Two are proven elsewhere: the answers of OCSP responders (42) come before the database, and listings of what could not be
/// delivered (13) are read by the one process that has the lease.
@Suite("Three processes that share PostgreSQL avoid the traps in the App Store's data", .timeLimit(.minutes(10)))
struct SharedTrapTests {
    @Test("whatever a trap is made of, in any order, repeated, at the same time, and with a kill -9")
    func scenarios() async throws {
        let scenarios = try TrapScenario.all
        let traps = scenarios.flatMap(\.traps)
        #expect(Set(traps).count == traps.count)
        #expect(Set(1...44).subtracting(traps) == [13, 14, 17, 42], "14 and 17 need a device: see below")

        let appStore = try SigningAppStore()
        let url = try TestPostgreSQL.shared.get().makeDatabase()
        let shared = try ReceivingProcesses(
            in: appStore.folder, configuration: try Self.configuration(of: scenarios.map { try $0.app.bundleID }),
            sharing: url)
        let posts = try scenarios.flatMap { try appStore.posts(of: $0) }
        try await shared.post(posts.shuffled(times: 4))
        #expect(shared.statuses() == [0, 0, 0])

        let store = try StoreLocation.postgreSQL(url: url).open()
        defer { try? store.close() }
        let stored = try await StoredHistories(store)
        #expect(try await store.check() == [])
        #expect(stored.notifications.sorted() == posts.map(\.id).sorted(), "each is stored once")
        for scenario in scenarios {
            let app = try scenario.app
            let known = TrapScenario.Known(
                facts: SubscriberFacts(stored.facts[app] ?? []), environment: app.environment)
            scenario.verify(known)
            // Nothing of trap 44 is believed.
            guard !known.facts.isEmpty else { continue }
            let reference = SubscriberFacts(
                try scenario.notifications.flatMap { notification in
                    let facts = try notification.read(of: app.bundleID, in: app.environment).facts
                    return facts + facts.announcements
                })
            #expect(Self.texts(of: known.facts) == Self.texts(of: reference), "\(app.bundleID.text)")
        }
    }

    @Test("what one process learns, signs or closes, the others know: traps 14, 17, 35, 36 and 40")
    func acrossProcesses() async throws {
        let appStore = try SigningAppStore()
        let url = try TestPostgreSQL.shared.get().makeDatabase()
        let app = AppScope(bundleID: try BundleID(utf8: Array("com.example.app".utf8)), environment: .production)
        let shared = try ReceivingProcesses(
            in: appStore.folder, configuration: try Self.configuration(of: [app.bundleID]), sharing: url)
        let today = Double(Timestamp(.now).milliseconds - Timestamp.day(0).milliseconds) / 86_400_000
        let asker = TrapAsker(shared, appStore, app)

        // 14: the app shows what the device has before any notification comes.
        let bought = try Self.transaction("1", today - 10, today + 20, by: 7)
        let renews = try TestFacts.renewal(signed: today - 10)
        #expect(try await asker.decide(0, account: 7, device: [bought, renews]).offers == ["keep"])
        // The others know the customer and the signature.
        for place in [1, 2] {
            #expect(try await asker.decide(place, account: 7).refused["keep"] == ["outstanding"])
            #expect(try await asker.lookUp(place, account: 7).authorisations == ["outstanding"])
        }
        // 36: OFFER_REDEEMED closes the authorisation.
        let pending = try TestFacts.renewal(signed: today) {
            $0.offer = AppliedOffer(type: .promotional, identifier: "keep", discountType: .payAsYouGo)
        }
        try await asker.notify(2, "OFFER_REDEEMED", [bought, pending])
        #expect(try await asker.lookUp(0, account: 7).authorisations == ["redeemed"])
        // 35: the transaction that shows the offer later is no further redemption.
        let renewal = try Self.transaction("2", today + 20, today + 50, signed: today, by: 7) {
            $0.offer = AppliedOffer(type: .promotional, identifier: "keep", discountType: .payAsYouGo)
        }
        try await asker.notify(1, "DID_RENEW", [renewal])
        for place in 0..<ReceivingProcesses.count {
            #expect(try await asker.lookUp(place, account: 7).redemptions == ["keep"])
            #expect(try await asker.decide(place, account: 7).refused["keep"] == ["pending_offer"])
        }

        // 17: a device has a later copy of the transaction, and knows nothing of the grace period.
        let lapsed = try Self.transaction("20", of: "20", today - 31, today - 1, by: 8)
        let grace = try TestFacts.renewal(of: "20", signed: today - 1) {
            $0.isInBillingRetryPeriod = true
            $0.gracePeriodExpiresDate = .day(today + 15)
        }
        let status = try TestFacts.status(.billingGracePeriod, of: "20", signed: today - 1)
        try await asker.notify(0, "DID_FAIL_TO_RENEW", [lapsed, grace, status])
        let copy = try Self.transaction("20", of: "20", today - 31, today - 1, signed: today - 0.5, by: 8)
        _ = try await asker.decide(1, account: 8, device: [copy])
        #expect(try await asker.lookUp(2, account: 8).statuses == ["billing_grace_period"])

        // 40: a family member gets no offer.
        let member = try Self.transaction("30", of: "30", today - 5, today + 25, by: 9) {
            $0.ownership = .familyShared
        }
        try await asker.notify(1, "SUBSCRIBED", [member])
        #expect(try await asker.decide(2, account: 9).refused["keep"]?.contains("family_shared") == true)
        #expect(shared.statuses() == [0, 0, 0])

        // What must change nothing has arrived.
        let store = try StoreLocation.postgreSQL(url: url).open()
        defer { try? store.close() }
        let stored = SubscriberFacts(try await StoredHistories(store).facts[app] ?? [])
        #expect(stored[renewal.key]?.signedDate == renewal.signedDate)
        #expect(stored[copy.key]?.signedDate == copy.signedDate)
    }

    private static let group = "21012345"

    /// A transaction of an account's subscription, in days.
    private static func transaction(
        _ id: String, of original: String = "1", _ start: Double, _ end: Double, signed: Double? = nil,
        by account: UInt64,
        _ change: (inout Purchase) -> Void = { _ in }
    ) throws -> SubscriberFact {
        try TestFacts.transaction(id, of: original, start, end, signed: signed) {
            $0.subscriptionGroupID = group
            $0.appAccountToken = .account(account)
            change(&$0)
        }
    }

    private static func configuration(of apps: [BundleID]) throws -> String {
        "apps:\n"
            + apps.map { app in
                """
                  - bundleID: \(app.text)
                    appAppleID: \(HistoryNotification.appAppleID(of: app))
                    products:
                      - productID: monthly
                        subscriptionGroupID: "\(group)"
                        offers:
                          - offerID: keep
                            rule: {subscription: {status: [active, billing_grace_period]}}
                            limits: {perCustomer: 1, outstanding: 1}

                """
            }.joined()
    }

    /// The facts without their digests, which a reference that is not signed does not share.
    private static func texts(of facts: SubscriberFacts) -> [String] {
        facts.map { "\($0.key) \($0.originalTransactionID) \($0.signedDate) \($0.value)" }.sorted()
    }
}

/// Signs as the App Store does.
private struct SigningAppStore {
    let folder: TemporaryFolder
    let signer: NotificationSigner
    /// Its leaf has expired, but after everything in the scenarios was signed.
    let oldSigner: NotificationSigner

    init() throws {
        folder = try TemporaryFolder()
        try NotificationSigner.make(in: folder.path + "/roots")
        signer = try NotificationSigner(folder: folder.path + "/roots")
        oldSigner = try NotificationSigner(
            folder: folder.path + "/roots", leafUntil: Timestamp.day(30).milliseconds / 1000)
    }

    func posts(of scenario: TrapScenario) throws -> [AppStorePost] {
        let app = try scenario.app
        let signer = scenario.isLeafExpired ? oldSigner : signer
        return try scenario.notifications.map { notification in
            var isEdited = false
            let body = try notification.body(of: app.bundleID, in: app.environment) { payload in
                let text = String(decoding: payload, as: UTF8.self)
                let edited = scenario.edit?(text) ?? text
                isEdited = isEdited || edited != text
                return try signer.jws(Array(edited.utf8))
            }
            #expect(isEdited == (scenario.edit != nil))
            return AppStorePost(id: AppStorePost.id(notification.uuid, of: app), body: body)
        }
    }
}

/// An app, its backend and the App Store, each of which talks to the process that it happens to reach.
private final class TrapAsker: Sendable {
    struct Answer {
        let json: [String: Any]

        private func objects(_ name: String) -> [[String: Any]] { json[name] as? [[String: Any]] ?? [] }

        private func texts(_ name: String, of objects: String) -> [String] {
            self.objects(objects).compactMap { $0[name] as? String }
        }

        /// The IDs of the offers that the customer may have.
        var offers: [String] { texts("offerID", of: "offers") }
        /// The codes for each offer.
        var refused: [String: [String]] {
            let pairs = objects("refused").map { refused in
                let reasons = refused["reasons"] as? [[String: Any]] ?? []
                return (refused["offerID"] as? String ?? "", reasons.compactMap { $0["code"] as? String })
            }
            return Dictionary(pairs) { $0 + $1 }
        }
        var statuses: [String] { texts("status", of: "subscriptions") }
        var authorisations: [String] { texts("state", of: "authorisations") }
        var redemptions: [String] { texts("offerID", of: "redemptions") }
    }

    private let shared: ReceivingProcesses
    private let appStore: SigningAppStore
    private let app: AppScope

    init(_ shared: ReceivingProcesses, _ appStore: SigningAppStore, _ app: AppScope) {
        (self.shared, self.appStore, self.app) = (shared, appStore, app)
    }

    func notify(_ place: Int, _ type: String, _ facts: [SubscriberFact]) async throws {
        let notification = HistoryNotification(
            uuid: UUID().uuidString, type: type, subtype: nil,
            signedDate: facts.map(\.signedDate).reduce(.day(0), max), facts: facts)
        let body = try notification.body(of: app.bundleID, in: app.environment, signedBy: appStore.signer.jws)
        _ = try await post(place, "/v1/app-store-notifications", String(decoding: body, as: UTF8.self))
    }

    /// - Parameter device: what the device has; empty to send no proofs.
    func decide(_ place: Int, account: UInt64, device facts: [SubscriberFact] = []) async throws -> Answer {
        guard !facts.isEmpty else {
            return Answer(json: try await post(place, "/v1/decisions", "{\(customer(account))}"))
        }
        let device = HistoryNotification(uuid: "", type: "", subtype: nil, signedDate: .day(0), facts: facts)
        let parts = device.parts(of: app.bundleID, in: app.environment)
        func jws(_ payload: [UInt8]?) throws -> String {
            try payload.map { "\"" + String(decoding: try appStore.signer.jws($0), as: UTF8.self) + "\"" } ?? ""
        }
        let proofs =
            #"{"signedTransactions":[\#(try jws(parts.transaction))],"signedRenewalInfos":[\#(try jws(parts.renewal))]}"#
        return Answer(json: try await post(place, "/v1/decisions", #"{\#(customer(account)),"proofs":\#(proofs)}"#))
    }

    func lookUp(_ place: Int, account: UInt64) async throws -> Answer {
        let json = try await post(place, "/v1/customers/lookup", "{\(customer(account))}")
        let customers = json["customers"] as? [[String: Any]] ?? []
        #expect(customers.count == 1)
        return Answer(json: customers.first ?? [:])
    }

    private func customer(_ account: UInt64) -> String {
        #""bundleID":"\#(app.bundleID.text)","appAccountToken":"\#(UUIDText.account(account).description)""#
    }

    private func post(_ place: Int, _ path: String, _ body: String) async throws -> [String: Any] {
        let response = try await shared.service(place).post(path, body)
        #expect(response.status == 200, "\(response.text)")
        return response.json
    }
}
