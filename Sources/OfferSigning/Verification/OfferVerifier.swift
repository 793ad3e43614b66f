import FoundationEssentials
import OfferCore
import OfferExplanations

/// Verifies signatures as the App Store does, and explains those that it would reject.
public struct OfferVerifier: Sendable {
    private let keys: [CandidateKey]
    private let issuerIDs: IssuerIDs

    /// - Parameters:
    ///   - keys: the keys that may have signed, the current one first.
    ///   - issuerID: the required issuer of a JWS. Without one, only the form of its issuer is checked.
    /// - Throws: ``SigningFailure`` with the code `invalid_field`.
    public init(keys: [PublicKey], issuerID: String? = nil) throws(SigningFailure) {
        self.keys = keys.map { CandidateKey(id: $0.id, standing: .inService, accepts: $0.accepts) }
        issuerIDs = try SigningFailure.checking { () throws(FieldError) in
            IssuerIDs(
                ofAllApps: try issuerID.map { text throws(FieldError) in try IssuerID(utf8: Array(text.utf8)) })
        }
    }

    /// Verifies what an app passed to StoreKit and, if the App Store would reject it, searches for the cause. The search takes
    /// up to 14 milliseconds of CPU time.
    /// - Parameter json: the values as a JSON object, in any form that `POST /v1/explanations` of offer-signer accepts. For
    ///   example, `bundleID`, `productID`, `offerID`, `appAccountToken` or `applicationUsername`, `keyID`, `nonce`, `timestamp`,
    ///   `signature`; or `compactJWS`; and `storeKitError`.
    /// - Throws: ``SigningFailure``: `invalid_field` if the JSON cannot be read, `cryptography_failed` if libcrypto fails.
    public func explain(json: some Sequence<UInt8>) throws(SigningFailure) -> Explanation {
        let evidence = try Self.evidence(in: Array(json))
        let explainer = Explainer(keys: keys, issuerIDs: issuerIDs, now: Timestamp(Date()))
        do { return Explanation(try explainer.explanation(of: evidence)) } catch {
            throw SigningFailure(.cryptographyFailed, "Verification failed: \(error).")
        }
    }

    private static func evidence(in json: [UInt8]) throws(SigningFailure) -> Evidence {
        guard case .object(let members) = try? JSONReader.read(json) else {
            throw SigningFailure(.invalidField, field: "json", "json must be a JSON object.")
        }
        do { return try Evidence(members) } catch { throw SigningFailure(error) }
    }
}

extension SigningFailure {
    fileprivate init(_ error: MemberError) {
        switch error {
        case .invalid(let error): self.init(error)
        case .missing(let name): self.init(.invalidField, field: name, "\(name) is missing.")
        case .unknown(let name): self.init(.invalidField, field: name, "\(name) is not a known member.")
        case .reserved(let name): self.init(.invalidField, field: name, "\(name) must not be given.")
        case .wrongType(let name, let expected, let found):
            self.init(.invalidField, field: name, "\(name) must be \(expected), not \(found).")
        case .conflicting(let name, let other):
            self.init(.invalidField, field: name, "\(name) and \(other) cannot be given together.")
        case .missingCustomer, .emptyAppAccountToken:
            self.init(.invalidField, field: "appAccountToken", "appAccountToken must not be empty.")
        }
    }
}
