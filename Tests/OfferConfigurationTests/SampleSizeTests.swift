import OfferCore
import OfferEligibility
import Testing

@testable import OfferConfiguration

@Suite("Sizes of samples")
struct SampleSizeTests {
    private static func problems(_ share: String, drawn: [(environment: AppStoreEnvironment, share: Double)]) throws
        -> [Diagnostic]
    {
        let text = """
            apps:
              - bundleID: com.example.app
                products: [{productID: p, subscriptionGroupID: "1", offers: [{offerID: a, rule: {share: \(share)}}]}]
            """
        let (file, problems) = ConfigurationFile.read(Array(text.utf8), name: "file")
        try #require(problems == [], "\(problems)")
        let bundleID = try BundleID(utf8: Array("com.example.app".utf8))
        return try #require(file.catalogue).changedSamples(
            since: drawn.map { drawn in
                SampleSize(
                    app: AppScope(bundleID: bundleID, environment: drawn.environment), sample: "s", share: drawn.share,
                    since: Timestamp(milliseconds: 1))
            })
    }

    @Test("another size under the name of a drawn sample is a problem, and a new name is none")
    func changed() throws {
        let both = [(AppStoreEnvironment.production, 0.9), (.sandbox, 0.9)]
        #expect(try Self.problems("{of: 0.9, by: s}", drawn: both) == [])
        #expect(try Self.problems("{of: 0.90, by: s}", drawn: both) == [])
        #expect(try Self.problems("{of: 0.5, by: s2}", drawn: both) == [])
        let changed = try Self.problems("{of: 0.5, by: s}", drawn: both)
        #expect(
            changed.map(\.error) == [
                "com.example.app: the sample s has the size 0.5, but its customers were drawn with 0.9"
            ])
        // In the sandbox, testers may have been drawn with another one.
        #expect(try Self.problems("{of: 0.5, by: s}", drawn: [(.production, 0.5), (.sandbox, 0.9)]).count == 1)
    }
}
