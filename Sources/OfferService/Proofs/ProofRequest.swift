import AppStoreData
import OfferCore
import OfferEligibility

/// The member `proofs` of a request: App Store data that shows a customer's purchases. None of it is verified yet.
struct ProofRequest: Sendable {
    /// JWS in compact form.
    let signedTransactions: [[UInt8]]
    /// JWS in compact form.
    let signedRenewalInfos: [[UInt8]]
    /// JWS in compact form.
    let signedAppTransaction: [UInt8]?
    /// The receipt, which is CMS in BER or DER.
    let appReceipt: [UInt8]?
    /// The device for which the receipt must have been created.
    let device: DeviceIdentifier?

    /// The permitted number of JWS and receipts together.
    static let counts = 1...50

    private static let names: Set<String> = [
        "signedTransactions", "signedRenewalInfos", "signedAppTransaction", "appReceipt", "deviceIdentifier",
    ]

    /// - Parameter value: the value of the member `proofs`.
    init(_ value: JSONValue) throws(Problem) {
        guard case .object(let members) = value else {
            throw .wrongType(field: "proofs", expected: "an object", found: value.kind)
        }
        do { try MemberReader(members).refuseOthers(than: Self.names) } catch { throw Problem(error) }
        signedTransactions = try Self.texts(members, "signedTransactions")
        signedRenewalInfos = try Self.texts(members, "signedRenewalInfos")
        signedAppTransaction = try Self.text(members, "signedAppTransaction")
        if let text = signedAppTransaction { try Self.checkForm(of: text, "signedAppTransaction") }
        appReceipt = try Self.text(members, "appReceipt").map { text throws(Problem) in
            if let advice = MisplacedProof.advice(forReceipt: text) {
                throw .misplacedProof("proofs.appReceipt", advice)
            }
            guard let receipt = Base64.bytes(of: text) else {
                throw .invalidField(FieldError(field: "proofs.appReceipt", reason: .notBase64))
            }
            return receipt
        }
        device = try Self.device(members, hasReceipt: appReceipt != nil)
        let count =
            signedTransactions.count + signedRenewalInfos.count + (signedAppTransaction == nil ? 0 : 1)
            + (appReceipt == nil ? 0 : 1)
        guard Self.counts.contains(count) else {
            throw .invalidField(FieldError(field: "proofs", reason: .wrongCount(Self.counts)))
        }
    }

    private static func device(_ members: JSONObject, hasReceipt: Bool) throws(Problem) -> DeviceIdentifier? {
        guard let text = try text(members, "deviceIdentifier") else { return nil }
        guard hasReceipt else { throw .missingField("proofs.appReceipt") }
        guard let device = DeviceIdentifier(hexadecimal: String(decoding: text, as: UTF8.self)) else {
            throw .invalidField(FieldError(field: "proofs.deviceIdentifier", reason: .notDevice))
        }
        return device
    }

    private static func texts(_ members: JSONObject, _ name: String) throws(Problem) -> [[UInt8]] {
        guard let value = members[name] else { return [] }
        guard case .array(let elements) = value else {
            throw .wrongType(field: "proofs.\(name)", expected: "an array", found: value.kind)
        }
        var texts: [[UInt8]] = []
        for (index, element) in elements.enumerated() {
            guard case .string(let text) = element else {
                throw .wrongType(field: "proofs.\(name)[\(index)]", expected: "a string", found: element.kind)
            }
            try checkForm(of: text, "\(name)[\(index)]")
            texts.append(text)
        }
        return texts
    }

    /// Refuses App Store data that is not in the form of a JWS.
    private static func checkForm(of text: [UInt8], _ name: String) throws(Problem) {
        guard let advice = MisplacedProof.advice(forJWS: text) else { return }
        throw .misplacedProof("proofs.\(name)", advice)
    }

    private static func text(_ members: JSONObject, _ name: String) throws(Problem) -> [UInt8]? {
        guard let value = members[name] else { return nil }
        guard case .string(let text) = value else {
            throw .wrongType(field: "proofs.\(name)", expected: "a string", found: value.kind)
        }
        return text
    }
}
