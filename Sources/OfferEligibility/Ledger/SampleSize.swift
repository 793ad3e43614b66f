package import OfferCore

/// The size of a sample with which the service first ran.
package struct SampleSize: Hashable, Sendable {
    package let app: AppScope
    /// The name of the sample.
    package let sample: String
    /// The share of customers in the sample, from 0 to 1.
    package let share: Double
    /// The time at which the service first ran with the sample.
    package let since: Timestamp

    package init(app: AppScope, sample: String, share: Double, since: Timestamp) {
        self.app = app
        self.sample = sample
        self.share = share
        self.since = since
    }
}

extension Catalogue {
    /// Returns a problem for each sample that has another size than the first one.
    package func changedSamples(since drawn: [SampleSize]) -> [Diagnostic] {
        var problems: [Diagnostic] = []
        let sorted = drawn.sorted {
            ($0.app.bundleID.text.description, $0.sample) < ($1.app.bundleID.text.description, $1.sample)
        }
        for size in sorted {
            guard let new = apps[size.app.bundleID]?.rules.sampleSizes[size.sample],
                let share = new.first(where: { $0 != size.share })
            else { continue }
            let problem = Diagnostic(
                "\(size.app.bundleID.text): the sample \(size.sample.printable) has the size \(share), but its customers were "
                    + "drawn with \(size.share)",
                hint: "give the new size a name of its own (by), because customers keep their places in a sample")
            // Usually an app has the same sample in several environments.
            if !problems.contains(problem) { problems.append(problem) }
        }
        return problems
    }
}
