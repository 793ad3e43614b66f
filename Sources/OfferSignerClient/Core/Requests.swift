import Foundation

/// The bodies of the client's requests. Absent members are left out, because the service refuses `null`.
struct DecisionRequest: Encodable {
    let bundleID: String
    let appAccountToken: String?
    let applicationUsername: String?
    let transactionID: String?
    let environment: String?
    let placement: String?
    let link: String?
    let productIDs: [String]?
    /// The client lists offers without signing them: each signature takes the customer's place under a limit.
    let sign = false
    let proofs: ProofsBody?
}

/// Signs one offer, through `/v1/promotional-offers`.
struct SigningRequest: Encodable {
    let bundleID: String
    let productID: String
    let offerID: String
    let appAccountToken: String?
    let applicationUsername: String?
    let transactionID: String?
    let environment: String?
    let placement: String?
    let link: String?
    let proofs: ProofsBody?
}

/// Signs one offer, through `/offer`, with the members of Apple's sample.
struct SampleRequest: Encodable {
    let appBundleID: String
    let productIdentifier: String
    let offerID: String
    let appAccountToken: String?
    let applicationUsername: String?
    let environment: String?
}

struct ProofsBody: Encodable {
    let signedTransactions: [String]?
    let signedRenewalInfos: [String]?
    let signedAppTransaction: String?

    /// - Returns: nil without any proof, because the service refuses an empty object.
    init?(_ proofs: DeviceProofs) {
        guard !proofs.signedTransactions.isEmpty || proofs.signedAppTransaction != nil else { return nil }
        signedTransactions = proofs.signedTransactions.isEmpty ? nil : proofs.signedTransactions
        // A renewal info counts only with a transaction.
        let infos = proofs.signedTransactions.isEmpty ? [] : proofs.signedRenewalInfos
        signedRenewalInfos = infos.isEmpty ? nil : infos
        signedAppTransaction = proofs.signedAppTransaction
    }
}

struct EventsRequest: Encodable {
    let bundleID: String
    let environment: String?
    let events: [ReportedEvent]
}

/// What the app passed to StoreKit: either form of signature, never both, so that the answer is about the form that was used.
struct ExplanationRequest: Encodable {
    let bundleID: String
    let productID: String
    let offerID: String
    let appAccountToken: String?
    let applicationUsername: String?
    var transactionID: String?
    var compactJWS: String?
    var keyID: String?
    var nonce: String?
    var timestamp: Int64?
    var signature: String?
    let storeKitError: String

    /// - Parameter original: whether StoreKit got the original form.
    init(_ signed: SignedOffer, bundleID: String, original: Bool, storeKitError: String) {
        self.bundleID = bundleID
        productID = signed.offer.productID
        offerID = signed.offer.offerID
        appAccountToken = signed.customer.appAccountToken
        applicationUsername = signed.customer.applicationUsername
        self.storeKitError = storeKitError
        if let jws = signed.compactJWS, !original {
            (compactJWS, transactionID) = (jws, signed.transactionID)
        } else if let signature = signed.signature {
            (keyID, nonce) = (signature.keyID, signature.nonce)
            (timestamp, self.signature) = (signature.timestamp, signature.base64)
        }
    }
}

extension Encodable {
    /// The same bytes for the same value: a repeated request must not differ.
    var json: Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // Strings, integers and Booleans always encode.
        guard let data = try? encoder.encode(self) else { preconditionFailure("a request does not encode") }
        return data
    }
}

extension URL {
    /// The address up to its query or fragment, which may contain an e-mail address and means nothing to the service.
    var withoutQuery: String { String(absoluteString.prefix { $0 != "?" && $0 != "#" }) }
}
