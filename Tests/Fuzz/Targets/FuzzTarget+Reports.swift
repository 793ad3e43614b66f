import OfferCore
import OfferReports

extension FuzzTarget {
    /// The reader of Apple's Subscription Event report.
    static let appleEvents = FuzzTarget("apple-events") { input throws(BrokenPromise) in
        let lines = input.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        func events(_ lines: [ArraySlice<UInt8>]) -> AppleEvents? {
            var reader = AppleEventReader(appAppleID: 1_234_567_890)
            do {
                for (number, line) in zip(1..., lines) { try reader.read(line, number: number) }
            } catch {
                return nil
            }
            return reader.events
        }
        guard let read = events(lines) else { return }
        try promise(
            "the order of lines makes no difference", events(lines.prefix(1) + lines.dropFirst().reversed()) == read)
        try promise("nothing is counted backwards", read.others.values.allSatisfy { $0 >= 0 })
        let question = SubscriptionQuestion(asOf: Timestamp(milliseconds: 1_800_000_000_000))
        let comparison = ReportComparison(question, read, SubscriptionEventDays(asOf: question.asOf))
        try promise("only Apple has events", comparison.totals.allSatisfy { $0.here == 0 && $0.apple >= 0 })
        try promise("JSON is JSON", (try? JSONReader.read(comparison.json)) != nil)
    }
}
