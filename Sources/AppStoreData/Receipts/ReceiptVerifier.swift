package import OfferCore
import OfferCrypto

/// A verifier of app receipts.
///
/// The certificates are verified at the receipt's creation date, which is inside the signed content. Therefore, the
/// signature is verified first, then the date is read, then the certificates are verified. Nothing else is decoded
/// before that.
package struct ReceiptVerifier: Sendable {
    private let roots: TrustedRoots
    private let isDevelopment: Bool

    /// - Parameter isDevelopment: true if receipts from Xcode are accepted.
    package init(roots: TrustedRoots, isDevelopment: Bool = false) {
        self.roots = roots
        self.isDevelopment = isDevelopment
    }

    /// - Parameters:
    ///   - receipt: CMS in BER or DER.
    ///   - time: the time at which the receipt must not have expired. Most receipts never expire.
    ///   - certificateTime: the time at which the certificates must be valid; nil means the receipt's creation date.
    ///   - device: if given, the receipt must have been made for this device.
    package func verify(
        _ receipt: [UInt8], at time: Timestamp, certificateTime: Timestamp? = nil, device: DeviceIdentifier? = nil
    ) throws(ReceiptFailure) -> VerifiedReceipt {
        let message = try read(receipt)
        let payload = try payload(of: message)
        let chain = try chain(of: message, payload, at: certificateTime)
        let receipt: AppReceipt
        do { receipt = try AppReceipt(payload) } catch { throw .payload(error) }
        try check(receipt, chain, at: time)
        if let device { try check(receipt, device) }
        return VerifiedReceipt(receipt: receipt, chain: chain)
    }

    private func read(_ receipt: [UInt8]) throws(ReceiptFailure) -> SignedMessage {
        do { return try SignedMessage(ber: receipt) } catch { throw .notVerified(VerificationFailure(message: error)) }
    }

    /// - Returns: the attributes, signed with the enclosed certificate, which is not verified yet.
    private func payload(of message: borrowing SignedMessage) throws(ReceiptFailure) -> ReceiptPayload {
        let content: [UInt8]
        do { content = try message.verifiedContent() } catch { throw .notVerified(VerificationFailure(message: error)) }
        do { return try ReceiptPayload(content) } catch { throw .payload(error) }
    }

    private func chain(
        of message: borrowing SignedMessage, _ payload: ReceiptPayload, at time: Timestamp?
    ) throws(ReceiptFailure) -> ReceiptChain {
        let date: Timestamp
        do { date = if let time { time } else { try payload.creationDate() } } catch { throw .payload(error) }
        do {
            return try ReceiptChain(
                leaf: message.signerCertificate, enclosed: message.certificates, roots: roots,
                at: date.milliseconds / 1000)
        } catch { throw .notVerified(error) }
    }

    private func check(_ receipt: AppReceipt, _ chain: ReceiptChain, at time: Timestamp) throws(ReceiptFailure) {
        guard receipt.type.environmentName != nil else { throw .refused(.unknownType) }
        guard receipt.type != .xcode || isDevelopment else { throw .refused(.xcodeNeedsDevelopment) }
        // Every developer has Xcode's key, so it is accepted only for Xcode's receipts.
        guard receipt.type == .xcode || !chain.isXcode else { throw .refused(.notFromAppStore) }
        if let expirationDate = receipt.expirationDate {
            guard time < expirationDate else { throw .refused(.expired) }
        }
    }

    private func check(_ receipt: AppReceipt, _ device: DeviceIdentifier) throws(ReceiptFailure) {
        guard let hash = receipt.deviceHash else { throw .refused(.deviceHashMissing) }
        let matches: Bool
        do { matches = try hash.matches(device) } catch {
            throw .notVerified(VerificationFailure(.verificationUnavailable))
        }
        guard matches else { throw .refused(.anotherDevice) }
    }
}

/// A receipt signed by Apple, or by Xcode in development.
package struct VerifiedReceipt: Sendable {
    package let receipt: AppReceipt
    package let chain: ReceiptChain
}
