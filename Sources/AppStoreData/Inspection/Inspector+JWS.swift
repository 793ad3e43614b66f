import OfferCore
import OfferCrypto

extension Inspector {
    /// Inspects a JWS and, if it is a notification, each JWS inside it.
    func inspect(jws text: [UInt8]) -> Inspection {
        var inspection = inspect(text, as: options.kind?.payloadKind, from: options.origin)
        guard let payload = inspection.payload, let notification = try? AppStoreNotification(json: payload) else {
            return inspection
        }
        inspection.inner = notification.signedMembers.map { inner in
            (inner.member, inspect(inner.jws, as: inner.kind, from: ExpectedOrigin()))
        }
        if inspection.isVerified { checkContents(of: notification, in: &inspection) }
        return inspection
    }

    /// - Parameter kind: the expected kind; nil if any kind is accepted.
    private func inspect(_ text: [UInt8], as kind: PayloadKind?, from origin: ExpectedOrigin) -> Inspection {
        var inspection = Inspection(unverified: text, at: date)
        do throws(DataRefusal) {
            let (object, chain) = try verifier.object(in: text, at: date)
            inspection.accept(chain)
            do throws(PayloadError) {
                try kind?.require(of: object.members)
                try check(AppStorePayload(object).value.origin, against: origin, in: &inspection)
            } catch { throw DataRefusal(error) }
        } catch { inspection.refusal = error }
        return inspection
    }

    private func check(_ found: PayloadOrigin, against expected: ExpectedOrigin, in inspection: inout Inspection) {
        do { try expected.check(found) } catch { inspection.refusal = DataRefusal(error) }
    }

    /// Checks that each JWS inside a verified notification is also verified and belongs to it.
    private func checkContents(of notification: AppStoreNotification, in inspection: inout Inspection) {
        do throws(NotificationFailure<DataRefusal>) {
            _ = try NotificationContents(of: notification) { (jws, _) throws(DataRefusal) in
                try verifier.object(in: jws, at: date).object
            }
        } catch {
            var refusal = DataRefusal(error)
            inspection.refusal = refusal
            refusal.member = nil
            for index in inspection.inner.indices
            where inspection.inner[index].member == error.member && inspection.inner[index].inspection.isVerified {
                inspection.inner[index].inspection.refusal = refusal
            }
        }
    }

    private var date: EffectiveDate {
        options.time.map { .at($0.seconds) } ?? .ofSigning(otherwise: now.seconds)
    }
}

extension Inspection {
    /// Reads as much of a JWS as possible, without verification.
    fileprivate init(unverified text: [UInt8], at date: EffectiveDate) {
        self.init()
        guard let jws = try? SignedJWS(text) else { return }
        certificates = ((try? jws.certificates) ?? []).compactMap { try? X509Certificate(der: $0) }
        guard let json = try? jws.payload, let object = try? PayloadObject(json: json) else { return }
        payload = json
        kind = (try? object.kind()).map(InspectedKind.init)
        effectiveDate = (try? date.seconds(for: object.members)).map(Timestamp.init(seconds:))
    }
}

extension AppStoreNotification {
    /// Each JWS inside the notification, with its path and kind.
    fileprivate var signedMembers: [(member: String, kind: PayloadKind, jws: [UInt8])] {
        let members: [(String, PayloadKind, [UInt8]?)] =
            switch content {
            case .data(let data):
                [
                    ("data.signedTransactionInfo", .transaction, data.signedTransactionInfo),
                    ("data.signedRenewalInfo", .renewalInfo, data.signedRenewalInfo),
                ]
            case .appData(let app):
                [("appData.signedAppTransactionInfo", .appTransaction, app.signedAppTransactionInfo)]
            case .summary, .externalPurchaseToken, .unknown: []
            }
        return members.compactMap { member, kind, jws in jws.map { (member, kind, $0) } }
    }
}
