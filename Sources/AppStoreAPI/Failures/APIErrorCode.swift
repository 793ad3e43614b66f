/// An error code of the App Store Server API: the HTTP status and four digits. Apple calls it `errorCode`.
package struct APIErrorCode: RawRepresentable, Hashable, Sendable {
    package let rawValue: Int64

    package init(rawValue: Int64) { self.rawValue = rawValue }

    struct Meaning: Hashable, Sendable {
        let name: String
        let sentence: String

        init(_ name: String, _ sentence: String) {
            (self.name, self.sentence) = (name, sentence)
        }
    }

    package static let invalidRevision = Self(rawValue: 4_000_005)
    package static let invalidPaginationToken = Self(rawValue: 4_000_014)
    package static let paginationTokenExpired = Self(rawValue: 4_000_017)
    package static let originalTransactionIDNotFound = Self(rawValue: 4_040_005)
    package static let testNotificationNotFound = Self(rawValue: 4_040_008)
    package static let invalidAppIdentifier = Self(rawValue: 4_000_002)
    package static let appNotFound = Self(rawValue: 4_040_003)
    package static let appNotFoundRetryable = Self(rawValue: 4_040_004)
    package static let transactionIDNotFound = Self(rawValue: 4_040_010)
    package static let defaultMessageNotFound = Self(rawValue: 4_040_020)
    package static let realtimeURLNotFound = Self(rawValue: 4_040_021)
    package static let rateLimitExceeded = Self(rawValue: 4_290_000)

    private static let retryable: Set<Int64> = [4_040_002, 4_040_004, 4_040_006, 5_000_000, 5_000_001]

    /// Every code that this version knows.
    package static var allKnown: [APIErrorCode] { known.keys.sorted().map(APIErrorCode.init) }

    /// A stable name in lower snake case; `unknown` for an unknown code.
    package var name: String { Self.known[rawValue]?.name ?? "unknown" }

    /// The meaning of the code, with the action to take if there is one.
    package var sentence: String {
        Self.known[rawValue]?.sentence
            ?? "This version does not know the code. Look it up in the App Store Server API documentation."
    }

    /// True if the same request can succeed soon.
    package var isRetryable: Bool { Self.retryable.contains(rawValue) }

    /// True if the other environment may have the item that was not found.
    package var meansOtherEnvironment: Bool {
        self == .transactionIDNotFound || self == .originalTransactionIDNotFound
    }

    /// True if the error concerns the app rather than the request.
    package var isOfApp: Bool { [.invalidAppIdentifier, .appNotFound, .appNotFoundRetryable].contains(self) }

    /// True if the list must be read again from its beginning.
    package var meansRestart: Bool {
        [.invalidRevision, .invalidPaginationToken, .paginationTokenExpired].contains(self)
    }
}

extension APIErrorCode: CustomStringConvertible {
    package var description: String { "\(rawValue) \(name)" }
}
