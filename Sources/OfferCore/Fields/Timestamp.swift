/// The time of a signature: milliseconds since 1970-01-01T00:00:00Z. It is the last field of the payload.
///
/// The App Store accepts the signature for 24 hours after this time.
package struct Timestamp: Hashable, Comparable, Codable, Sendable {
    package let milliseconds: Int64

    package init(milliseconds: Int64) {
        self.milliseconds = milliseconds
    }

    /// The earliest timestamp.
    package static let min = Timestamp(milliseconds: .min)
    /// The latest timestamp.
    package static let max = Timestamp(milliseconds: .max)

    /// The time for which the App Store accepts a V1 signature after its timestamp, in milliseconds: 24 hours.
    package static let signatureLifetimeMilliseconds: Int64 = 24 * 60 * 60 * 1000

    package static func < (left: Timestamp, right: Timestamp) -> Bool { left.milliseconds < right.milliseconds }
}
