import OfferAudit
import OfferConsole
import OfferCore
import OfferEligibility
import OfferHTTP
import OfferService
import SubscriberStore

/// Checking and trying new rules: `/rules`, and a page for each trial.
struct RulesPage: Sendable {
    let trials: RulesTrials
    let acts: ConsoleActs
    /// The files that are checked at the same time.
    private let limit = LaneLimit(2)

    init(trials: RulesTrials, acts: ConsoleActs) {
        self.trials = trials
        self.acts = acts
    }

    private static let trial = FormReader.Field("trial", maximumBytes: 16)
    /// The form may have both a text and a file, and a little around them.
    private static let maximumUpload = 2 * RulesView.maximumBytes + 4096
    /// The seconds between two refreshes of a page while its trial runs.
    private static let refresh = 3

    var routes: [ConsoleRoute] {
        let access = ConsoleRoute.Access.roles(ConsoleSection.rules.roles)
        let form = ["text", "file"].map { FormReader.Field($0, maximumBytes: RulesView.maximumBytes) }
        return [
            .page("/rules", for: access, [], page),
            .upload(
                "/rules", for: access, form + [FormReader.Field("do", maximumBytes: 8)],
                maximumBytes: Self.maximumUpload, check),
            .page("/rules/trial", for: access, [Self.trial, FormReader.Field("hold", maximumBytes: 1)], trialPage),
            .page("/rules/trial.csv", for: access, [Self.trial], download),
            .act("/rules/cancel", for: access, [Self.trial], cancel),
        ]
    }

    @Sendable private func page(_ request: ConsoleRequest) async throws(ConsoleRefusal) -> ConsoleAnswer {
        .page(view(request, at: PageAddress("/rules")).html)
    }

    /// `POST /rules`: checks the file and, if wanted, starts a trial.
    @Sendable private func check(_ request: ConsoleRequest) async throws(ConsoleRefusal) -> ConsoleAnswer {
        guard let session = request.session else { throw .signIn(nil) }
        let values = request.values
        let text = values["file"].flatMap { $0.isEmpty ? nil : $0 } ?? values["text"] ?? ""
        func refuse(_ check: RulesView.Check?, _ refusal: String?) -> ConsoleAnswer {
            .page(view(request, text: text, check: check, refusal: refusal).html, status: 400)
        }
        guard !text.trimmingSpaces.isEmpty else { return refuse(nil, "Paste a configuration file, or open one.") }
        guard limit.enter() else { throw request.unavailable }
        defer { limit.leave() }
        let drawn = await trials.sampleSizes()
        // Reading a large file takes long, and the threads of this request read the database.
        let result = await withTaskExecutorPreference(globalConcurrentExecutor) { RulesCheck(text, drawn: drawn) }
        guard let catalogue = result.catalogue else { return refuse(result.view, nil) }
        guard values["do"] == "try" else {
            return .page(view(request, text: text, check: result.view).html)
        }
        guard catalogue.apps.values.reduce(0, { $0 + $1.rules.offers.count }) <= RulesCheck.maximumOffers else {
            return refuse(
                result.view,
                "The file has more than \(RulesCheck.maximumOffers) offers with rules. Try them with the command 'rules try'."
            )
        }
        try await acts.record(.rulesTrial, request)
        guard let trial = trials.start(catalogue, by: session.account.label) else {
            acts.noteRefusal("too_many_trials", of: .rulesTrial, by: session.account, request)
            return refuse(result.view, "Ten trials have not ended yet. Wait for one of them, or cancel it.")
        }
        return .redirect(trial.address)
    }

    @Sendable private func trialPage(_ request: ConsoleRequest) async throws(ConsoleRefusal) -> ConsoleAnswer {
        let (trial, isHeld) = (try trial(request), request.values["hold"] != nil)
        let view = RulesTrialView(
            frame: request.frame(at: trial.address), now: request.now, trial: trial.view, isHeld: isHeld,
            csv: PageAddress("/rules/trial.csv").with("trial", trial.id))
        return .page(view.html, refresh: trial.isEnded || isHeld ? nil : Self.refresh)
    }

    @Sendable private func download(_ request: ConsoleRequest) async throws(ConsoleRefusal) -> ConsoleAnswer {
        guard case .finished(let result) = try trial(request).view.state else { throw .problem(.notFound) }
        return .csv(result.csv, name: "trial.csv")
    }

    @Sendable private func cancel(_ request: ConsoleRequest) async throws(ConsoleRefusal) -> ConsoleAnswer {
        let trial = try trial(request)
        try await acts.record(.rulesCancel, request)
        trials.cancel(trial.id)
        return .redirect(trial.address)
    }

    private func trial(_ request: ConsoleRequest) throws(ConsoleRefusal) -> RulesTrial {
        guard let trial = request.values["trial"].flatMap({ trials[$0] }) else { throw .problem(.notFound) }
        return trial
    }

    private func view(
        _ request: ConsoleRequest, at address: PageAddress? = nil, text: String = "", check: RulesView.Check? = nil,
        refusal: String? = nil
    ) -> RulesView {
        RulesView(
            frame: request.frame(at: address), now: request.now, text: text, check: check, refusal: refusal,
            trials: trials.all.map(\.view))
    }
}
