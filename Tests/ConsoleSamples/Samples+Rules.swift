import OfferConsole
import OfferCore

extension Samples {
    private static func trial(_ place: Int, _ state: RulesTrialView.State) -> RulesTrialView.Trial {
        RulesTrialView.Trial(
            address: PageAddress("/rules/trial", ["trial": "\(place)"]), id: "\(place)", person: "Ada Example",
            startedAt: days(-0.001 * Double(place + 1)), digest: "9b3f0c6e1d2a", state: state)
    }

    private static var result: RulesTrialView.Result {
        func offer(
            _ id: String, _ rule: String?, _ inForce: Int64?, _ new: Int64?, gained: Int64, lost: Int64,
            _ reasons: [RulesTrialView.Reason] = []
        ) -> RulesTrialView.Offer {
            RulesTrialView.Offer(
                app: "com.example.app", environment: "Production", productID: "com.example.app.pro", offerID: id,
                inForce: RulesTrialView.Side(rule: rule, eligible: inForce),
                new: RulesTrialView.Side(rule: rule, eligible: new), gained: gained, lost: lost, reasons: reasons)
        }
        return RulesTrialView.Result(
            customers: 1_204_311,
            offers: [
                offer("loyalty_<b>", nil, nil, 12_044, gained: 12_044, lost: 0),
                offer(
                    "stay", "retention", 48_230, 51_002, gained: 3_100, lost: 328,
                    [
                        RulesTrialView.Reason(code: "auto_renew", inForce: 1_004_200, new: 1_001_428),
                        RulesTrialView.Reason(code: "status", inForce: 151_881, new: 151_881),
                    ]),
                offer("winback", "win_back", 96_004, 96_004, gained: 0, lost: 0),
            ])
    }

    static let file = """
        apps:
          - bundleID: com.example.app
            products:
              - productID: com.example.app.pro
                offers:
                  - {offerID: stay, rule: leaveing, limits: {total: lots}}
        rules:
          leaving: {subscription: {status: active, autoRenew: off}}
        """

    static var rules: [(String, HTML)] {
        func rules(_ check: RulesView.Check?, refusal: String? = nil, text: String = file) -> HTML {
            RulesView(
                frame: frame(PageAddress("/rules")), now: now, text: text, check: check, refusal: refusal,
                trials: [trial(0, .waiting), trial(1, .running(0.42)), trial(2, .finished(result)), trial(3, .failed)]
            ).html
        }
        func trialPage(_ state: RulesTrialView.State, isHeld: Bool = false) -> HTML {
            RulesTrialView(
                frame: frame(PageAddress("/rules/trial")), now: now, trial: trial(0, state), isHeld: isHeld,
                csv: PageAddress("/rules/trial.csv")
            ).html
        }
        let line = "- {offerID: stay, rule: leaveing, limits: {total: lots}}"
        let problems = RulesView.Check(problems: [
            RulesView.Finding(
                line: 6, source: line, message: "apps[0].products[0].offers[0].rule: there is no rule leaveing",
                hint: "did you mean leaving?"),
            RulesView.Finding(
                line: 6, source: line, message: "apps[0].products[0].offers[0].limits.total: lots is not a number",
                hint: "write a whole number from 1"),
            RulesView.Finding(line: nil, source: nil, message: "The file is <not> UTF-8", hint: "save it as UTF-8"),
        ])
        let good = RulesView.Check(
            problems: [],
            warnings: [
                RulesView.Finding(
                    line: nil, source: nil, message: "com.example.app: the offer stay is never the best one",
                    hint: "give it a higher priority")
            ],
            notes: [
                RulesView.Finding(
                    line: nil, source: nil, message: "com.example.app: usernames are not hashed", hint: "hash them")
            ],
            offers: [
                RulesView.Offer(
                    app: "com.example.app", productID: "com.example.app.pro", offerID: "stay", ruleName: "leaving",
                    rule: "One subscription is active, and its auto-renew is off.",
                    limits: ["once for each customer", "10,000 in all"]),
                RulesView.Offer(
                    app: "com.example.app", productID: "com.example.app.pro", offerID: "always", ruleName: nil,
                    rule: "Always.", limits: []),
            ])
        return [
            (
                "rules",
                RulesView(frame: frame(PageAddress("/rules")), now: now, trials: []).html
            ),
            ("rules-problems", rules(problems)), ("rules-checked", rules(good)),
            ("rules-refused", rules(nil, refusal: "Paste a configuration file, or open one.", text: "</textarea><b>")),
            ("trial-waiting", trialPage(.waiting)), ("trial-running", trialPage(.running(0.42))),
            ("trial-held", trialPage(.running(0.42), isHeld: true)), ("trial-finished", trialPage(.finished(result))),
            (
                "trial-empty",
                trialPage(.finished(RulesTrialView.Result(customers: 0, offers: [])))
            ),
            ("trial-cancelled", trialPage(.cancelled)), ("trial-failed", trialPage(.failed)),
        ]
    }
}
