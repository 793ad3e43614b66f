package import OfferCore
package import OfferCrypto

/// The result of an inspection.
package struct Inspection: Sendable {
    /// The kind of the data; nil if it is unknown.
    package var kind: InspectedKind?
    /// The first check that failed; nil if the data is verified.
    package var refusal: DataRefusal?
    /// A JSON object: the payload of a JWS as signed, or the contents of a receipt with Apple's names. It is also
    /// present for unverified data that can be read.
    package var payload: [UInt8]?
    /// The certificates, leaf first. For verified data, the last is the trusted root; for unverified data, these are
    /// the enclosed certificates.
    package var certificates: [X509Certificate] = []
    /// The time at which the certificates must be valid; nil if it is unknown.
    package var effectiveDate: Timestamp?
    /// True if Xcode signed the data with its own certificate.
    package var isFromXcode = false
    /// The inspections of the JWS inside a notification, in the order of the notification's members.
    package var inner: [(member: String, inspection: Inspection)] = []

    package var isVerified: Bool { refusal == nil }
}

extension Inspection {
    /// Stores the certificates of a verified chain.
    mutating func accept(_ chain: some CertificatePath) {
        isFromXcode = chain.isXcode
        // Xcode's certificate is both leaf and root.
        certificates = chain.intermediate.map { [chain.leaf, $0, chain.root] } ?? [chain.root]
    }
}
