package import OfferCore

/// The requirements of an inspection. A nil value is not checked.
package struct InspectionOptions: Hashable, Sendable {
    package var kind: InspectedKind?
    package var origin: ExpectedOrigin
    /// The time at which all checks are made. If nil, the certificates must have been valid at the date of signing, and
    /// a receipt must not have expired by now.
    package var time: Timestamp?
    /// The device for which a receipt must have been made.
    package var device: DeviceIdentifier?

    package init(
        kind: InspectedKind? = nil, origin: ExpectedOrigin = ExpectedOrigin(), time: Timestamp? = nil,
        device: DeviceIdentifier? = nil
    ) {
        self.kind = kind
        self.origin = origin
        self.time = time
        self.device = device
    }
}

extension Timestamp {
    /// Parses a time that a person entered: RFC 3339, such as `2026-11-22T10:00:00Z`, or milliseconds since 1970.
    /// - Returns: nil for any other text, or for a year of more than four digits.
    package init?(inspectionTime text: String) {
        guard let time = Timestamp(rfc3339: Array(text.utf8)[...]) ?? Int64(text).map(Timestamp.init(milliseconds:)),
            time.isPrintable
        else { return nil }
        self = time
    }

    /// True if the time can be written with a four-digit year.
    var isPrintable: Bool { (-62_167_219_200_000...253_402_300_799_999).contains(milliseconds) }

    /// - Parameter seconds: seconds since 1970.
    init(seconds: Int64) { self.init(milliseconds: seconds * 1000) }

    /// Seconds since 1970, rounded down.
    var seconds: Int64 { Int64((Double(milliseconds) / 1000).rounded(.down)) }
}
