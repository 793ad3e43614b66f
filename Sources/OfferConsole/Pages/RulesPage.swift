package import OfferCore

/// `GET /rules` and `POST /rules`: checks a configuration file, and tries its rules on the stored customers.
///
/// Fields of the form, which has parts: `text`; `file`, which comes first if it is not empty; `do`, which is `check` or
/// `try`.
package final class RulesView: Sendable {
    /// Something that the check found.
    package final class Finding: Sendable {
        /// From 1; nil if it is about the whole file.
        let line: Int?
        /// The text of the line.
        let source: String?
        let message: String
        let hint: String

        package init(line: Int?, source: String?, message: String, hint: String) {
            self.line = line
            self.source = source
            self.message = message
            self.hint = hint
        }
    }

    /// An offer with a rule in the checked file.
    package final class Offer: Sendable {
        let app: String
        let productID: String
        let offerID: String
        /// nil for an inline rule.
        let ruleName: String?
        let rule: String
        let limits: [String]

        package init(
            app: String, productID: String, offerID: String, ruleName: String?, rule: String, limits: [String]
        ) {
            self.app = app
            self.productID = productID
            self.offerID = offerID
            self.ruleName = ruleName
            self.rule = rule
            self.limits = limits
        }
    }

    /// The result of a check.
    package final class Check: Sendable {
        let problems: [Finding]
        let warnings: [Finding]
        let notes: [Finding]
        /// Empty if there are problems.
        let offers: [Offer]

        package init(problems: [Finding], warnings: [Finding] = [], notes: [Finding] = [], offers: [Offer] = []) {
            self.problems = problems
            self.warnings = warnings
            self.notes = notes
            self.offers = offers
        }
    }

    /// The maximum size of a file in the form, in bytes.
    package static let maximumBytes = 1024 * 1024

    let frame: PageFrame
    let now: Timestamp
    /// The text in the form.
    let text: String
    let check: Check?
    /// The reason why the form was refused; nil if it was not.
    let refusal: String?
    /// The latest first.
    let trials: [RulesTrialView.Trial]

    package init(
        frame: PageFrame, now: Timestamp, text: String = "", check: Check? = nil, refusal: String? = nil,
        trials: [RulesTrialView.Trial]
    ) {
        self.frame = frame
        self.now = now
        self.text = text
        self.check = check
        self.refusal = refusal
        self.trials = trials
    }

    package var html: HTML {
        frame.page(
            "Rules", in: .rules,
            """
            <h1>Rules</h1>
            <p class="lead">Check a new configuration file, and see which stored customers would get other offers. \
            Nothing is changed or signed.</p>
            \(refusal.map { Blocks.notice(.problem, "\($0)") })\(check.map(\.html))\(form)\(trialList)
            """)
    }

    private var form: HTML {
        // The parser of HTML drops the first line break of a textarea.
        let invalid: HTML? = check?.problems.isEmpty == false ? #" aria-invalid="true""# : nil
        return Blocks.section(
            "file", "New file",
            """
            <form method="post" action="/rules" enctype="multipart/form-data">
            <div class="field"><label for="text">Configuration file (YAML)</label>
            <p class="hint" id="text-hint">The whole file, with apps, products, offers and rules.</p>
            <textarea class="source" id="text" name="text" rows="14" spellcheck="false" autocomplete="off" wrap="off" \
            aria-describedby="text-hint"\(invalid)>
            \(text)</textarea></div>
            <div class="field"><label for="upload">Or open a file of at most 1 MiB, which replaces the text</label>
            <input id="upload" name="file" type="file" accept=".yaml,.yml"></div>
            <div class="buttons"><button name="do" value="check">Check</button>
            <button class="primary" name="do" value="try">Try on all customers</button></div></form>
            """)
    }

    private var trialList: HTML {
        guard !trials.isEmpty else {
            return Blocks.section(
                "trials", "Trials",
                Blocks.empty("No trials yet", "The last ten are kept here, each for an hour after its end."))
        }
        let rows = trials.html { trial in
            Blocks.row([
                #"<a href="\#(trial.address)">\#(frame.clock.second(trial.startedAt))</a>"#,
                UserText.text(trial.person), trial.state.badge, trial.state.summary, UserText.code(trial.digest),
            ])
        }
        return Blocks.section(
            "trials", "Trials", count: trials.count,
            Blocks.table("Trials", head: ["Started", "Person", "State", "Result", "File (SHA-256)"], rows: rows))
    }
}

extension RulesView.Check {
    fileprivate var html: HTML {
        guard problems.isEmpty else {
            let title: HTML = "The file has \(Words.count(problems.count, "problem"))."
            return """
                \(Blocks.notice(.problem, title, "<p>The rules in force stay as they are.</p>"))\
                \(Blocks.section("problems", "Problems", count: problems.count, Self.list(problems)))
                """
        }
        let title: HTML = warnings.isEmpty ? "The rules are consistent." : "The rules are consistent, with warnings."
        return """
            \(Blocks.notice(warnings.isEmpty ? .success : .warning, title))\(section("warnings", "Warnings", warnings))\
            \(section("notes", "Notes", notes))\(offerTable)
            """
    }

    private func section(_ id: StaticString, _ title: StaticString, _ findings: [RulesView.Finding]) -> HTML? {
        guard !findings.isEmpty else { return nil }
        return Blocks.section(id, "\(title)", count: findings.count, Self.list(findings))
    }

    private static func list(_ findings: [RulesView.Finding]) -> HTML {
        let items = findings.html { finding in
            let place = finding.line.map { line in
                #"""
                <p class="source-line"><span class="number">Line \#(line)</span> \#(finding.source.map(UserText.code))</p>
                """# as HTML
            }
            return """
                <li>\(place)<p>\(UserText.text(finding.message))</p>
                <p class="todo"><b>What to do:</b> \(UserText.text(finding.hint))</p></li>

                """
        }
        return "<ul class=\"findings\">\(items)</ul>"
    }

    private var offerTable: HTML? {
        guard !offers.isEmpty else { return nil }
        let rows = offers.html { offer in
            let name = offer.ruleName.map { "<b>\(UserText.text($0))</b><br>" as HTML }
            let limits: HTML =
                offer.limits.isEmpty ? "none" : #"<ul class="plain">\#(offer.limits.html { "<li>\($0)</li>" })</ul>"#
            return """
                <tr><th scope="row">\(UserText.text(offer.offerID))
                <p class="note">\(UserText.text(offer.productID))<br>\(UserText.text(offer.app))</p></th>
                <td class="words">\(name)\(UserText.text(offer.rule))</td>
                <td>\(limits)</td></tr>

                """
        }
        return Blocks.section(
            "offers", "Offers with rules", count: offers.count,
            Blocks.table("Offers with rules", head: ["Offer", "Rule", "Limits"], rows: rows))
    }
}
