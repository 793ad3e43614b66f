import OfferConfiguration
import OfferConsole
import OfferCore
import OfferEligibility

/// A check of a configuration file, as `offer-signer rules check` makes it.
struct RulesCheck: Sendable {
    /// nil if the file has problems.
    let catalogue: Catalogue?
    let view: RulesView.Check

    /// The maximum number of offers with rules that a trial compares. The memory of its result depends on it.
    static let maximumOffers = 1000

    private static let unknownSizes = Diagnostic(
        "the sizes of samples are not checked, because the database does not answer",
        hint: "check the file again in a minute")

    /// - Parameter drawn: the first size of each sample; nil if they are unknown.
    init(_ text: String, drawn: [SampleSize]?) {
        // Rules do not need the secrets that the file names. No other file is read.
        let (file, problems) = ConfigurationFile.check(Array(text.utf8)) { _ throws(Diagnostic) in Secret("-") }
        guard problems.isEmpty else {
            catalogue = nil
            let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
            view = RulesView.Check(problems: problems.map { RulesView.Finding($0, in: lines) })
            return
        }
        let catalogue = file.catalogue ?? Catalogue(apps: [:])
        let changed = catalogue.changedSamples(since: drawn ?? [])
        guard changed.isEmpty else {
            self.catalogue = nil
            view = RulesView.Check(problems: changed.map(RulesView.Finding.init))
            return
        }
        self.catalogue = catalogue
        let isUnchecked = drawn == nil && catalogue.apps.values.contains { !$0.rules.sampleSizes.isEmpty }
        view = RulesView.Check(
            problems: [],
            warnings: (CatalogueLint.warnings(about: catalogue) + (isUnchecked ? [Self.unknownSizes] : [])).map(
                RulesView.Finding.init),
            notes: CatalogueLint.notes(about: catalogue).map(RulesView.Finding.init),
            offers: catalogue.apps.sorted { $0.key.text.description < $1.key.text.description }.flatMap {
                bundleID, app in
                app.rules.offers.map { RulesView.Offer($0, of: bundleID) }
            })
    }
}

extension RulesView.Finding {
    fileprivate convenience init(_ problem: FileProblem, in lines: [Substring]) {
        let source = problem.line.flatMap { line in lines.indices.contains(line - 1) ? String(lines[line - 1]) : nil }
        self.init(
            line: problem.line, source: source.map(\.trimmingSpaces),
            message: problem.line == nil ? "The file \(problem.error)" : problem.error, hint: problem.hint)
    }

    fileprivate convenience init(_ diagnostic: Diagnostic) {
        self.init(line: nil, source: nil, message: diagnostic.error, hint: diagnostic.hint)
    }
}

extension RulesView.Offer {
    fileprivate convenience init(_ terms: OfferTerms, of bundleID: BundleID) {
        self.init(
            app: bundleID.text.description, productID: terms.productID.text.description,
            offerID: terms.offerID.text.description, ruleName: terms.rule.name, rule: terms.rule.text,
            limits: terms.limits.texts)
    }
}
