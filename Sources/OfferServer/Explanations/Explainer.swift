package import OfferCore

/// Says of a presented signature whether it verifies, and if not, why: values in, an explanation out.
///
/// It only verifies. Nothing is signed, and what it says of keys is their IDs.
package struct Explainer: Sendable {
    private let keys: [CandidateKey]
    private let names: KnownNames
    private let issuerIDs: IssuerIDs
    private let now: Timestamp
    private let sha256: @Sendable ([UInt8]) throws -> [UInt8]

    /// - Parameters:
    ///   - keys: those that sign first.
    ///   - issuerIDs: what `iss` of a JWS has to be; where there is none, only its form is known.
    package init(
        keys: [CandidateKey], names: KnownNames = KnownNames(), issuerIDs: IssuerIDs = IssuerIDs(), now: Timestamp,
        sha256: @escaping @Sendable ([UInt8]) throws -> [UInt8]
    ) {
        self.keys = keys
        self.names = names
        self.issuerIDs = issuerIDs
        self.now = now
        self.sha256 = sha256
    }

    /// - Throws: what keeps libcrypto from verifying.
    package func explanation(of evidence: Evidence) throws -> Explanation {
        var verifications = Verifications()
        let verdict: Verdict
        var ofJWS: Verdict?
        switch evidence.signature {
        case .v1(let fields, let token):
            // The JWS first: it costs little.
            ofJWS = try token.map { try self.verdict(on: $0, &verifications) }
            verdict = try self.verdict(on: fields, verifications)
        case .jws(let token):
            verdict = try self.verdict(on: token, &verifications)
        }
        let isGood = verdict.isGood && ofJWS?.isGood ?? true
        return Explanation(
            verdict: verdict, ofJWS: ofJWS,
            storeKit: evidence.storeKitError.map { advice(on: String(decoding: $0, as: UTF8.self), isGood: isGood) })
    }

    private func advice(on text: String, isGood: Bool) -> Explanation.StoreKitAdvice {
        let error = StoreKitError(text)
        return Explanation.StoreKitAdvice(
            error: error?.names.first ?? ReadableText.marked(Array(text.utf8)),
            check: error?.check(isGood: isGood) ?? StoreKitError.checkOfUnknown)
    }

    // MARK: V1

    private func verdict(on fields: PresentedFields, _ verifications: Verifications) throws -> Verdict {
        let readings = SignatureReading.all(of: fields.signature, field: "signature")
        var search = PayloadSearch(
            fields, keys: keys, names: names, verifications: verifications, sha256: sha256)
        let proof = try search.proof(of: readings)
        let defects = FieldDefects(fields)
        var findings = proof?.findings ?? []
        if proof == nil {
            findings += readings.first?.findings ?? [SignatureReading.defect(of: fields.signature, field: "signature")]
            var others = defects.all
            others.addMissing(unknownKey(fields.texts[.keyID] ?? [], field: "keyID"))
            if let customer = defects.noCustomer { others.append(customer) }
            // How a signature is written does not keep it from verifying here, so that something else does.
            if others.isEmpty, !readings.isEmpty { others = [Finding(.unexplained)] }
            findings += others
        } else {
            findings += defects.fatal.filter { defect in !findings.contains { $0.cause == defect.cause } }
        }
        return Verdict(
            verifies: proof?.findings.isEmpty ?? false, keyID: proof.map { "\($0.key.id)" }, findings: findings,
            payload: fields.payload.readableText,
            signedPayload: proof.flatMap { $0.form == fields.payload ? nil : $0.form.readableText },
            warnings: warnings(at: defects.timestamp.isEmpty ? fields.milliseconds : nil, of: proof?.key)
                + (proof != nil && defects.hasUndefinedCustomer && findings.isEmpty ? [.customerUndefined] : [])
                + (proof == nil && search.verifications.isCutShort ? [.searchCutShort] : []))
    }

    // MARK: JWS

    private func verdict(on token: PresentedToken, _ verifications: inout Verifications) throws -> Verdict {
        guard let parts = token.parts else {
            return Verdict(
                verifies: false, keyID: nil, findings: token.findings, payload: "", signedPayload: nil, warnings: [])
        }
        let app = (token.expected.bundleID ?? token.text(ofClaim: "bid")).flatMap { try? BundleID(utf8: $0) }
        let issuerID = app.map { issuerIDs[$0] } ?? issuerIDs.ofAllApps
        let check = ClaimCheck(parts, expected: token.expected, issuerID: issuerID?.uuid.utf8, names: names)
        let search = try TokenSearch(parts, named: token.keyID, keys: keys, sha256: sha256)
        let proof = try search?.proof(&verifications)
        var findings = check.algorithm + token.findings + (proof?.findings ?? [])
        if search == nil { findings.append(Finding(.jwsSignatureMalformed, field: "compactJWS")) }
        findings.addMissing(check.findings)
        if search != nil, proof == nil {
            let unknown = unknownKey(token.keyID ?? [], field: "kid")
            // A wrong claim does not keep a signature from verifying, so that is one thing more.
            findings.addMissing(unknown.isEmpty ? [Finding(.unexplained)] : unknown)
        }
        let isAsPresented = token.findings.isEmpty && check.algorithm.isEmpty
        return Verdict(
            verifies: isAsPresented && proof?.findings.isEmpty ?? false, keyID: proof.map { "\($0.key.id)" },
            findings: findings, payload: ReadableText.marked(parts.claimsText), signedPayload: proof?.signedText,
            warnings: tokenWarnings(check, key: proof?.key)
                + (proof == nil && verifications.isCutShort ? [.searchCutShort] : []))
    }

    private func tokenWarnings(_ check: ClaimCheck, key: CandidateKey?) -> [ExplanationWarning] {
        let times = warnings(at: check.issuedAtSeconds.map { $0 * 1000 }, of: key)
        return times.map { $0 == .olderThan24Hours ? .issuedLongAgo : $0 }
            + (check.isNonceInCapitals ? [.nonceInCapitals] : [])
            + (check.isIssuerInCapitals ? [.issuerInCapitals] : [])
            + (check.hasClaimOfOtherKind ? [.claimOfOtherKind] : [])
    }

    // MARK: Both

    private func unknownKey(_ id: [UInt8], field: String) -> [Finding] {
        guard !id.isEmpty, !keys.contains(where: { $0.id.text.utf8 == id }) else { return [] }
        for key in keys {
            if let slip = key.id.slip(in: id) { return [Finding(slip, field: field, keyID: "\(key.id)")] }
        }
        return [Finding(.unknownKeyID, field: field, keyID: ReadableText.marked(id))]
    }

    /// - Parameter milliseconds: when it was signed.
    private func warnings(at milliseconds: Int64?, of key: CandidateKey?) -> [ExplanationWarning] {
        var warnings: [ExplanationWarning] = []
        if let milliseconds {
            let (age, overflow) = now.milliseconds.subtractingReportingOverflow(milliseconds)
            if overflow ? milliseconds < 0 : age > Timestamp.signatureLifetimeMilliseconds {
                warnings.append(.olderThan24Hours)
            }
            // Two clocks are never quite the same.
            if overflow ? milliseconds > 0 : age < -60_000 { warnings.append(.aheadOfClock) }
        }
        if let warning = key?.warning { warnings.append(warning) }
        return warnings
    }
}

extension [Finding] {
    /// Adds those that are not said yet.
    fileprivate mutating func addMissing(_ others: [Finding]) {
        for other in others where !contains(where: { $0.cause == other.cause && $0.field == other.field }) {
            append(other)
        }
    }
}
