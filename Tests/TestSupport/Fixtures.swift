package import OfferCore
package import OfferCrypto

/// Disposable keys and fixed values for tests.
package enum Fixtures {
    /// Generates a disposable signing key.
    package static func makeSigningKey() throws -> SigningKey { try SigningKey(text: PrivateKeyPEM.generate()) }

    package static func keyID(_ text: String = "TESTKEY123") throws -> KeyID { try KeyID(utf8: Array(text.utf8)) }

    /// 2026-01-01T00:00:00Z.
    package static let timestamp = Timestamp(milliseconds: 1_767_225_600_000)

    package static let nonceText = "7f8a1c7e-3f2b-4f0d-9b1a-0c5d6e7f8a9b"

    /// Makes a payload from these strings and fixed values for the other fields.
    package static func payload(
        appBundleID: String = "com.example.app", keyID: String = "TESTKEY123", productIdentifier: String = "pro",
        offerID: String = "offer", customer: Customer? = nil
    ) throws -> OfferPayload {
        try OfferPayload(
            appBundleID: BundleID(utf8: Array(appBundleID.utf8)),
            keyID: KeyID(utf8: Array(keyID.utf8)),
            productIdentifier: ProductID(utf8: Array(productIdentifier.utf8)),
            offerID: OfferID(utf8: Array(offerID.utf8)),
            customer: customer ?? Customer(applicationUsername: Array("user".utf8)),
            nonce: Nonce(utf8: Array(nonceText.utf8)),
            timestamp: timestamp
        )
    }

    package static let issuerText = "57246542-96fe-1a63-e053-0824d011072a"

    package static func issuerID() throws -> IssuerID { try IssuerID(utf8: Array(issuerText.utf8)) }

    /// Makes a request for the same offer as ``payload(appBundleID:keyID:productIdentifier:offerID:customer:)``.
    package static func promotionalOffer(transactionID: String? = "2000000123456789") throws -> AppStoreRequest {
        .promotionalOffer(
            try ProductID(utf8: Array("pro".utf8)), try OfferID(utf8: Array("offer".utf8)),
            try transactionID.map { try TransactionID(utf8: Array($0.utf8)) })
    }

    /// Makes an unsigned JWS for a request, with fixed values for everything else.
    package static func unsignedJWS(_ request: AppStoreRequest) throws -> UnsignedJWS {
        UnsignedJWS(
            keyID: try keyID(), issuerID: try issuerID(), issuedAtSeconds: timestamp.milliseconds / 1000,
            bundleID: try BundleID(utf8: Array("com.example.app".utf8)), nonce: try Nonce(utf8: Array(nonceText.utf8)),
            request: request)
    }
}
