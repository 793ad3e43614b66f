import AppStoreData
import OfferCore
import OfferEligibility
import SubscriberSync

/// The verifier of a request's proofs.
struct ProofVerifier: Sendable {
    private let trust: AppStoreTrust
    private let now: @Sendable () -> Timestamp

    init(trust: AppStoreTrust, now: @escaping @Sendable () -> Timestamp) {
        self.trust = trust
        self.now = now
    }

    /// Verifies all proofs, which takes up to 4 ms of CPU time each. It stops at the first invalid proof.
    ///
    /// A certificate whose revocation status is still unknown does not delay the request. The OCSP response takes
    /// effect from the next request.
    /// - Parameters:
    ///   - app: the app that all proofs must be for.
    ///   - catalogue: lists the accepted environments; nil to accept only the sandbox.
    func verify(
        _ proofs: ProofRequest, of app: BundleID, in catalogue: Catalogue?
    ) throws(Problem) -> VerifiedProofs {
        let now = now()
        let date = EffectiveDate.ofSigning(otherwise: now.milliseconds / 1000)
        let origin = ExpectedOrigin(of: app, in: catalogue)
        var verified = VerifiedProofs()
        for (index, text) in proofs.signedTransactions.enumerated() {
            verified.transactions.append(
                try verify(text, "signedTransactions[\(index)]", origin: origin, at: date))
        }
        for (index, text) in proofs.signedRenewalInfos.enumerated() {
            verified.renewalInfos.append(
                try verify(text, "signedRenewalInfos[\(index)]", origin: origin, at: date))
        }
        if let text = proofs.signedAppTransaction {
            verified.appTransaction = try verify(text, "signedAppTransaction", origin: origin, at: date)
        }
        if let receipt = proofs.appReceipt {
            verified.receiptText = receipt
            verified.receipt = try verify(receipt, for: proofs.device, origin: origin, at: now)
        }
        try check(verified)
        for kind in verified.kinds { trust.noteVerified(kind) }
        return verified
    }

    private func verify<Payload: SignedPayload>(
        _ text: [UInt8], _ name: String, origin: ExpectedOrigin, at date: EffectiveDate
    ) throws(Problem) -> VerifiedData<Payload> {
        do throws(DataRefusal) {
            let data: VerifiedData<Payload> = try trust.verify(text, at: date)
            do { try origin.check(data.payload.origin) } catch { throw DataRefusal(error) }
            return data
        } catch {
            let advice = error.isOfAnotherKind ? MisplacedProof.advice(forOtherKind: text) : nil
            throw refuse(name, of: Payload.kind.rawValue, error, advice: advice)
        }
    }

    private func verify(
        _ receipt: [UInt8], for device: DeviceIdentifier?, origin: ExpectedOrigin, at now: Timestamp
    ) throws(Problem) -> VerifiedReceipt {
        do throws(DataRefusal) {
            let verified = try trust.verifyReceipt(receipt, at: now, device: device)
            do { try origin.check(verified.receipt.origin) } catch { throw DataRefusal(error) }
            return verified
        } catch { throw refuse("appReceipt", of: SyncMetrics.receipt, error) }
    }

    /// Checks that the proofs belong together.
    private func check(_ proofs: VerifiedProofs) throws(Problem) {
        if let index = proofs.firstLonelyRenewalInfo {
            throw refuse(
                "signedRenewalInfos[\(index)]", of: PayloadKind.renewalInfo.rawValue, DataRefusal(.transactionMissing))
        }
        if let kind = proofs.kindOfAnotherEnvironment {
            throw refuse(nil, of: kind, DataRefusal(.severalEnvironments))
        }
        guard proofs.originalTransactionIDs.count <= Self.maximumPurchases else {
            throw refuse(nil, of: SyncMetrics.receipt, DataRefusal(.tooManyPurchases))
        }
    }

    /// The maximum number of purchases that proofs may show, counted by `originalTransactionId`. Each purchase is
    /// looked up and stored. Renewals do not count, so only a receipt with many consumables reaches the limit.
    private static let maximumPurchases = 250

    /// - Parameters:
    ///   - name: the member of `proofs`; nil for `proofs` as a whole.
    ///   - kind: the kind of data, for the metrics.
    ///   - advice: sentences that say where the data belongs; nil to give only the reason for the refusal.
    private func refuse(
        _ name: String?, of kind: String, _ refusal: DataRefusal, advice: String? = nil
    ) -> Problem {
        trust.noteRefused(kind, refusal)
        return .proofRefused("proofs" + (name.map { ".\($0)" } ?? ""), refusal, advice: advice)
    }
}

extension ExpectedOrigin {
    /// - Parameter catalogue: the apps; nil if none are configured. In that case, only the sandbox is accepted.
    fileprivate init(of app: BundleID, in catalogue: Catalogue?) {
        let configured = catalogue?.apps[app] ?? Catalogue.App(offers: [:])
        self.init(bundleID: app, appAppleID: configured.appAppleID, environments: configured.environments)
    }
}

extension VerifiedProofs {
    /// The kinds of the proofs, as named in metrics.
    fileprivate var kinds: [String] { environments.map(\.kind) }

    /// The kind of the first proof whose environment differs from that of the first proof. A purchase in the sandbox
    /// costs nothing, so it must not be combined with a purchase in production.
    fileprivate var kindOfAnotherEnvironment: String? {
        environments.first { $0.environment != environments.first?.environment }?.kind
    }

    private var environments: [(kind: String, environment: AppStoreEnvironment?)] {
        transactions.map { (PayloadKind.transaction.rawValue, $0.payload.environment) }
            + renewalInfos.map { (PayloadKind.renewalInfo.rawValue, $0.payload.environment) }
            + (appTransaction.map { [(PayloadKind.appTransaction.rawValue, $0.payload.environment)] } ?? [])
            + (receipt.map { [(SyncMetrics.receipt, $0.receipt.environment)] } ?? [])
    }

    /// The index of the first renewal info without a transaction of its subscription. Renewal info names no app, so by
    /// itself it could belong to any app.
    fileprivate var firstLonelyRenewalInfo: Int? {
        renewalInfos.firstIndex { info in
            !transactions.contains { (try? SubscriptionRecord($0.payload, info.payload)) != nil }
        }
    }
}
