import OfferCore

/// The time at which the certificates of a JWS must be valid.
package enum EffectiveDate: Hashable, Sendable {
    /// A fixed time, in seconds since 1970. If revocation is checked, it is the current time.
    case at(Int64)
    /// The signing date in the payload, because the certificates of old data may have expired since. If there is no
    /// such date, the given time in seconds since 1970.
    case ofSigning(otherwise: Int64)
}

extension EffectiveDate {
    /// - Parameter payload: the unverified payload.
    /// - Returns: seconds since 1970.
    func seconds(for payload: JSONObject) throws(VerificationFailure) -> Int64 {
        switch self {
        case .at(let seconds): seconds
        case .ofSigning(let otherwise): try SigningDate.seconds(in: payload) ?? otherwise
        }
    }
}

/// A reader of the signing date in a payload.
enum SigningDate {
    /// Reads `signedDate`, or `receiptCreationDate` in an AppTransaction, in milliseconds since 1970.
    ///
    /// The payload is not verified yet, so nothing else in it is read.
    /// - Returns: seconds since 1970; nil if the payload has neither.
    static func seconds(in payload: JSONObject) throws(VerificationFailure) -> Int64? {
        guard let value = payload["signedDate"] ?? payload["receiptCreationDate"] else { return nil }
        guard case .number(let digits) = value, let milliseconds = milliseconds(digits) else {
            throw VerificationFailure(.payloadDate)
        }
        return Int64((milliseconds / 1000).rounded(.down))
    }

    /// Reads a number of milliseconds. Xcode writes fractions of a millisecond.
    private static func milliseconds(_ digits: [UInt8]) -> Double? {
        guard let number = Double(String(decoding: digits, as: UTF8.self)), abs(number) <= latest else { return nil }
        return number
    }

    /// The year 10000 in milliseconds, beyond which certificates cannot express a time.
    private static let latest = 253_402_300_800_000.0
}
