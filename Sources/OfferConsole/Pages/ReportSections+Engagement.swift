import OfferReports

extension ReportSections {
    var engagement: HTML? {
        guard !report.engagement.isEmpty else { return nil }
        let facts = report.engagement.map { fact in
            Self.row(
                UserText.text(fact.fact),
                [
                    Self.share(fact.arms.offered.value), Self.share(fact.arms.heldOut.value),
                    fact.difference.map { "\(FixedText.points($0.value)) points" } ?? "–",
                    Self.points(fact.difference?.once), Self.points(fact.difference?.always),
                ])
        }
        let numbers = report.engagement.flatMap { fact -> [HTML] in
            guard let numbers = fact.numbers else { return [] }
            return [
                Self.means(UserText.text(fact.fact), numbers.mean, numbers.meanDifference),
                Self.means(
                    "\(UserText.text(fact.fact)), change since exposure", numbers.change, numbers.changeDifference),
            ]
        }
        let numberTable =
            numbers.isEmpty
            ? nil
            : Blocks.table(
                "Means of facts", head: ["Mean per customer"] + Self.compared, rows: numbers, class: "numbers")
        return Blocks.section(
            "engagement", "Engagement on day \(question.effectDay)",
            """
            \(Self.definition(.engagement, question))
            <p class="note">Several facts are several comparisons: one of twenty looks different by chance.</p>
            \(Blocks.table("Customers with facts", head: ["Customers with"] + Self.compared, rows: facts, class: "numbers"))
            \(numberTable)
            <details><summary>The facts by cohort</summary>
            \(Blocks.table("Facts by cohort", head: Self.cohortHead, rows: factsByCohort, class: "numbers"))</details>
            \(download(.engagement))
            """)
    }

    private static let compared: [StaticString] = [
        "Offered", "Held out", "Difference", "95 % if you look once", "At any number of looks",
    ]

    private static func means(_ head: HTML, _ arms: ByArm<SampleMoments>, _ difference: Difference?) -> HTML {
        row(
            head,
            [
                mean(arms.offered), mean(arms.heldOut), difference.map { "\(FixedText.amount($0.value))" } ?? "–",
                amounts(difference?.once), amounts(difference?.always),
            ])
    }

    private static func mean(_ sample: SampleMoments?) -> HTML {
        sample.flatMap { $0.count > 0 ? "\(FixedText.amount($0.mean))" : nil } ?? "–"
    }

    private static let cohortHead: [StaticString] = [
        "From", "Fact", "Offered", "Held out", "With fact offered", "With fact held out", "Mean offered",
        "Mean held out",
    ]

    private var factsByCohort: [HTML] {
        report.engagement.flatMap { fact in
            fact.cohorts.reversed().map { cohort in
                let mark: HTML? = cohort.isComplete ? nil : " (not complete yet)"
                return Self.row(
                    "\(cohort.start)\(mark)",
                    [
                        UserText.text(fact.fact), Self.count(cohort.arms.offered.total),
                        Self.count(cohort.arms.heldOut.total), Self.share(cohort.arms.offered.value),
                        Self.share(cohort.arms.heldOut.value), Self.mean(cohort.mean?.offered),
                        Self.mean(cohort.mean?.heldOut),
                    ])
            }
        }
    }
}
