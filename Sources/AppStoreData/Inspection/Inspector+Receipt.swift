import OfferCore
import OfferCrypto

extension Inspector {
    /// - Parameter ber: CMS in BER or DER.
    func inspect(receipt ber: [UInt8]) -> Inspection {
        var inspection = Inspection(unverifiedReceipt: ber, at: options.time)
        do throws(DataRefusal) {
            let verified = try verifier.verifyReceipt(
                ber, at: options.time ?? now, certificateTime: options.time, device: options.device)
            inspection.accept(verified.chain)
            do { try options.origin.check(verified.receipt.origin) } catch { throw DataRefusal(error) }
        } catch { inspection.refusal = error }
        return inspection
    }
}

extension Inspection {
    /// Reads as much of a receipt as possible, without verification.
    /// - Parameter time: the effective date; nil means the receipt's creation date.
    fileprivate init(unverifiedReceipt ber: [UInt8], at time: Timestamp?) {
        self.init(kind: .receipt, effectiveDate: time)
        guard let message = try? SignedMessage(ber: ber) else { return }
        let leaf = message.signerCertificate
        certificates = [leaf] + message.certificates.filter { $0 !== leaf }
        guard let payload = try? ReceiptPayload(message.unverifiedContent) else { return }
        effectiveDate = time ?? (try? payload.creationDate())
        self.payload = (try? AppReceipt(payload))?.json
    }
}
