package import OfferCore

/// The single verifier of all data that Apple signs: every kind of JWS, and app receipts.
///
/// It verifies the signer and decodes the data. ``ExpectedApps`` and ``ExpectedOrigin`` check whether the data is about
/// one of our apps; for notifications, this verifier also does that. ``OCSPChecker`` checks revocation, and its
/// findings go to ``KnownChains/revoke(_:)``.
package struct AppStoreVerifier: Sendable {
    package let knownChains = KnownChains()
    private let jws: JWSVerifier
    private let receipts: ReceiptVerifier

    /// - Parameter isDevelopment: true if a root may sign data itself, as Xcode does. Such data describes no purchase.
    package init(roots: TrustedRoots = .apple, isDevelopment: Bool = false) {
        jws = JWSVerifier(roots: roots, knownChains: knownChains, allowsXcode: isDevelopment)
        receipts = ReceiptVerifier(roots: roots, isDevelopment: isDevelopment)
    }

    /// Verifies a JWS and decodes it as the kind that its members identify.
    /// - Parameter text: the JWS in compact form.
    package func verify(_ text: [UInt8], at date: EffectiveDate) throws(DataRefusal) -> VerifiedData<AppStorePayload> {
        let (object, chain) = try object(in: text, at: date)
        do { return VerifiedData(payload: try AppStorePayload(object), object: object, chain: chain) } catch {
            throw DataRefusal(error)
        }
    }

    /// Verifies a JWS and decodes it as one kind.
    package func verify<Payload: SignedPayload>(
        _ text: [UInt8], as _: Payload.Type = Payload.self, at date: EffectiveDate
    ) throws(DataRefusal) -> VerifiedData<Payload> {
        let (object, chain) = try object(in: text, at: date)
        do { return VerifiedData(payload: try Payload(object), object: object, chain: chain) } catch {
            throw DataRefusal(error)
        }
    }

    /// - Parameters:
    ///   - receipt: CMS in BER or DER.
    ///   - time: the time at which the receipt must not have expired.
    ///   - certificateTime: the time at which the certificates must be valid; nil means the receipt's creation date.
    ///   - device: if given, the receipt must have been made for this device.
    package func verifyReceipt(
        _ receipt: [UInt8], at time: Timestamp, certificateTime: Timestamp? = nil, device: DeviceIdentifier? = nil
    ) throws(DataRefusal) -> VerifiedReceipt {
        let verified: VerifiedReceipt
        do {
            verified = try receipts.verify(receipt, at: time, certificateTime: certificateTime, device: device)
        } catch { throw DataRefusal(error) }
        if let role = knownChains.revokedRole(in: verified.chain) {
            throw DataRefusal(VerificationFailure(.certificateRevoked, role))
        }
        return verified
    }

    /// Verifies a JWS without determining the kind of its payload.
    func object(
        in text: [UInt8], at date: EffectiveDate
    ) throws(DataRefusal) -> (object: PayloadObject, chain: VerifiedChain) {
        let (object, chain): (PayloadObject, VerifiedChain)
        do throws(VerificationFailure) {
            let verified = try jws.verify(text, at: date)
            (object, chain) = (PayloadObject(verified), verified.chain)
        } catch { throw DataRefusal(error) }
        // Every developer has Xcode's key, so it is accepted only for tests in Xcode.
        guard !chain.isXcode || object.isFromTests else { throw DataRefusal(.notFromAppStore) }
        return (object, chain)
    }
}

/// A payload signed by Apple, or by Xcode in development, with its JSON object and certificate chain.
package struct VerifiedData<Payload: Sendable>: Sendable {
    package let payload: Payload
    package let object: PayloadObject
    package let chain: VerifiedChain
}
