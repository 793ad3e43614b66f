import AppStoreData
import OfferCore

/// The verifier of a request's proofs.
struct ProofVerifier: Sendable {
    private let trust: AppStoreTrust
    private let now: @Sendable () -> Timestamp

    init(trust: AppStoreTrust, now: @escaping @Sendable () -> Timestamp) {
        self.trust = trust
        self.now = now
    }

    /// Verifies all proofs. The first bad one ends it.
    ///
    /// A certificate that has not been asked about yet does not delay the request: the answer counts from the next one on.
    /// - Parameters:
    ///   - proofs: verified one after the other, because each takes up to 4 ms of CPU time.
    ///   - app: the app that all must be of.
    ///   - catalogue: says which environments count; nil for the sandbox alone.
    func verify(
        _ proofs: ProofRequest, of app: BundleID, in catalogue: Catalogue?
    ) async throws(Problem) -> VerifiedProofs {
        let now = now()
        let date = EffectiveDate.ofSigning(otherwise: now.milliseconds / 1000)
        let origin = ExpectedOrigin(of: app, in: catalogue)
        var verified = VerifiedProofs()
        for (index, text) in proofs.signedTransactions.enumerated() {
            verified.transactions.append(
                try await verify(text, "signedTransactions[\(index)]", origin: origin, at: date))
        }
        for (index, text) in proofs.signedRenewalInfos.enumerated() {
            verified.renewalInfos.append(
                try await verify(text, "signedRenewalInfos[\(index)]", origin: origin, at: date))
        }
        if let text = proofs.signedAppTransaction {
            verified.appTransaction = try await verify(text, "signedAppTransaction", origin: origin, at: date)
        }
        if let receipt = proofs.appReceipt {
            verified.receipt = try await verify(receipt, for: proofs.device, origin: origin, at: now)
        }
        try verified.requireOneEnvironment()
        return verified
    }

    private func verify<Payload: SignedPayload>(
        _ text: [UInt8], _ name: String, origin: ExpectedOrigin, at date: EffectiveDate
    ) async throws(Problem) -> VerifiedData<Payload> {
        await Task.yield()
        do throws(DataRefusal) {
            let data: VerifiedData<Payload> = try trust.verify(text, at: date)
            do { try origin.check(data.payload.origin) } catch { throw DataRefusal(error) }
            trust.noteVerified(Payload.kind.rawValue)
            return data
        } catch {
            trust.noteRefused(Payload.kind.rawValue, error)
            throw .proofRefused("proofs.\(name)", error)
        }
    }

    private func verify(
        _ receipt: [UInt8], for device: DeviceIdentifier?, origin: ExpectedOrigin, at now: Timestamp
    ) async throws(Problem) -> VerifiedReceipt {
        await Task.yield()
        do throws(DataRefusal) {
            let verified = try trust.verifyReceipt(receipt, at: now, device: device)
            do { try origin.check(verified.receipt.origin) } catch { throw DataRefusal(error) }
            trust.noteVerified(ServiceMetrics.receipt)
            return verified
        } catch {
            trust.noteRefused(ServiceMetrics.receipt, error)
            throw .proofRefused("proofs.appReceipt", error)
        }
    }
}

extension ExpectedOrigin {
    /// - Parameter catalogue: the apps; nil if none are configured, in which case only the sandbox counts.
    fileprivate init(of app: BundleID, in catalogue: Catalogue?) {
        let configured = catalogue?.apps[app] ?? Catalogue.App(offers: [:])
        self.init(bundleID: app, appAppleID: configured.appAppleID, environments: configured.environments)
    }
}

extension VerifiedProofs {
    /// A purchase in the sandbox costs nothing, so it must not stand beside one in production.
    fileprivate func requireOneEnvironment() throws(Problem) {
        var environments = Set(transactions.map(\.payload.environment) + renewalInfos.map(\.payload.environment))
        if let appTransaction { environments.insert(appTransaction.payload.environment) }
        if let receipt { environments.insert(receipt.receipt.environment) }
        guard environments.count <= 1 else { throw .proofsOfSeveralEnvironments }
    }
}
