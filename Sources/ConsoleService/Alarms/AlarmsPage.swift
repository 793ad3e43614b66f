import OfferAudit
import OfferConfiguration
import OfferConsole
import OfferCore
import OfferEligibility
import OfferHTTP
import SubscriberStore
import SubscriberSync

/// `GET /alarms` and `POST /alarms/acknowledge`: redemptions that no signature of the service explains.
struct AlarmsPage: Sendable {
    let store: CurrentStore
    let acts: ConsoleActs

    private static let maximumAlarms = 100
    private static let maximumNoteLength = 500

    var routes: [ConsoleRoute] {
        let access = ConsoleRoute.Access.roles(ConsoleSection.alarms.roles)
        return [
            .page("/alarms", for: access, [], answer),
            .act(
                "/alarms/acknowledge", for: access,
                [FormReader.Field("number", maximumBytes: 20), FormReader.Field("note", maximumBytes: 4096)],
                acknowledge),
        ]
    }

    @Sendable private func answer(_ request: ConsoleRequest) async throws(ConsoleRefusal) -> ConsoleAnswer {
        .page(try await view(request, nil).html)
    }

    @Sendable private func acknowledge(_ request: ConsoleRequest) async throws(ConsoleRefusal) -> ConsoleAnswer {
        guard let number = request.values["number"].flatMap({ Int64($0) }), let session = request.session else {
            throw .problem(.badRequest("The field number is not the number of an alarm."))
        }
        let note = (request.values["note"] ?? "").trimmingSpaces
        func refuse(_ problem: String) async throws(ConsoleRefusal) -> ConsoleAnswer {
            let refusal = AlarmsView.Refusal(number: number, note: note, problem: problem)
            return .page(try await view(request, refusal).html, status: 400)
        }
        guard !note.isEmpty else { return try await refuse("Say what the cause is.") }
        guard note.count <= Self.maximumNoteLength else {
            return try await refuse("Use at most \(Self.maximumNoteLength) characters.")
        }
        let apps = request.policy.catalogue?.ledgerCoverage.apps ?? []
        do {
            guard
                let alarm = try await store.unexplainedRedemptions(in: apps, limit: 10_000)
                    .first(where: { $0.number == number })
            else { throw ConsoleRefusal.problem(.badRequest("There is no open alarm \(number).")) }
            try await acts.record(.alarm, request, app: alarm.app, alarm: number)
            let isFirst = try await store.acknowledge(
                Acknowledgement(number, at: request.now, by: session.account.label, note: note))
            guard isFirst else {
                acts.noteRefusal(
                    "acknowledged_before", of: .alarm, by: session.account, request, app: alarm.app, alarm: number)
                throw ConsoleRefusal.problem(.badRequest("Another operator has acknowledged the alarm \(number)."))
            }
        } catch let refusal as ConsoleRefusal {
            throw refusal
        } catch { throw request.unavailable }
        return .redirect(PageAddress("/alarms"))
    }

    private func view(
        _ request: ConsoleRequest, _ refusal: AlarmsView.Refusal?
    ) async throws(ConsoleRefusal) -> AlarmsView {
        let apps = request.policy.catalogue?.ledgerCoverage.apps ?? []
        let mayOpenCustomers = request.hasRole(in: .find)
        do {
            let open = try await store.unexplainedRedemptions(in: apps, limit: Self.maximumAlarms)
            let known = try await store.acknowledgedRedemptions(in: apps, limit: Self.maximumAlarms)
            return AlarmsView(
                frame: request.frame(at: refusal == nil ? PageAddress("/alarms") : nil), now: request.now,
                open: open.map { AlarmsView.Alarm($0, opensCustomers: mayOpenCustomers) },
                acknowledged: known.map { line in
                    AlarmsView.Acknowledgement(
                        alarm: AlarmsView.Alarm(line.redemption, opensCustomers: mayOpenCustomers),
                        at: line.acknowledgement.at, person: line.acknowledgement.person ?? "not recorded",
                        note: line.acknowledgement.note ?? "not recorded")
                }, refusal: refusal)
        } catch { throw request.unavailable }
    }
}

extension AlarmsView.Alarm {
    fileprivate convenience init(_ redemption: LedgerRedemption, opensCustomers: Bool) {
        let original = redemption.originalTransactionID
        self.init(
            number: redemption.number, at: redemption.at, app: redemption.app.bundleID.text.description,
            environment: redemption.app.environment.rawValue, productID: redemption.productID.text.description,
            offerID: redemption.offerID, transactionID: original.map(\.text.description),
            customer: opensCustomers
                ? original.map { CustomerAddress(redemption.app, .originalTransactionID($0)).page } : nil)
    }
}
