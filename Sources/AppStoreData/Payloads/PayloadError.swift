package import OfferCore
import OfferEligibility

/// The reason that a payload cannot be read, although Apple signed it. It names members and never contains their
/// values.
package struct PayloadError: Error, Hashable, Sendable {
    package enum Reason: Hashable, Sendable {
        case notJSON(JSONError)
        case notAnObject
        /// The members match no kind of payload.
        case unrecognised
        /// The members match several kinds of payload.
        case ambiguous([PayloadKind])
        case wrongKind(expected: PayloadKind, found: PayloadKind)
        case missing
        case wrongType(expected: String, found: String)
        case invalid(FieldError.Reason)
        /// Apple sends only one of the two members.
        case conflicting(with: String)
    }

    /// The member's path, such as `data.bundleId`; nil if the reason concerns the whole payload.
    package let member: String?
    package let reason: Reason

    package init(_ reason: Reason, member: String? = nil) {
        self.member = member
        self.reason = reason
    }
}

extension PayloadError: CustomStringConvertible {
    /// A sentence for the sender of the payload.
    package var description: String {
        let name = member ?? "The payload"
        switch reason {
        case .notJSON(let error): return "The payload is not valid JSON: \(error)."
        case .notAnObject: return "The payload is not a JSON object."
        case .unrecognised: return "The payload's members match no known kind of App Store data."
        case .ambiguous(let kinds):
            return "The payload's members match several kinds: \(kinds.map(\.title).joined(separator: ", "))."
        case .wrongKind(let expected, let found):
            return "The payload is \(found.title), but \(expected.title) is expected."
        case .missing: return "\(name) is missing."
        case .wrongType(let expected, let found): return "\(name) must be \(expected), but it is \(found)."
        case .invalid(let reason): return FieldError(field: name, reason: reason).description
        case .conflicting(let other): return "\(name) must not be sent together with \(other)."
        }
    }
}
