import FoundationEssentials

extension SubscriptionReport {
    /// The report as bytes that only this program reads. Every number stays exactly the same.
    package var kept: [UInt8] {
        get throws { Array(try JSONEncoder().encode(self)) }
    }

    /// - Parameter kept: the bytes of ``kept``.
    /// - Returns: nil if another version of the program wrote them, and its reports differ.
    package init?(kept: [UInt8]) {
        guard let report = try? JSONDecoder().decode(SubscriptionReport.self, from: Data(kept)) else { return nil }
        self = report
    }
}
