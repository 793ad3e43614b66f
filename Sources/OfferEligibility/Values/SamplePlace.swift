/// A customer's place in a named sample of `share`.
package struct SamplePlace: Hashable, Sendable {
    package let sample: String
    package let isInSample: Bool

    package init(sample: String, isInSample: Bool) {
        self.sample = sample
        self.isInSample = isInSample
    }
}
