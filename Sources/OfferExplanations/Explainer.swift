package import OfferCore
import OfferEligibility

/// A pure function from evidence to an explanation of whether the signature verifies and, if not, why.
///
/// It only verifies and never signs. Explanations reveal nothing about keys except their IDs.
package struct Explainer: Sendable {
    private let keys: [CandidateKey]
    private let names: KnownNames
    private let issuerIDs: IssuerIDs
    private let now: Timestamp

    /// The maximum number of verifications for one explanation.
    package static let maximumVerificationCount = VerificationBudget.maximumCount

    /// - Parameters:
    ///   - keys: the keys to try, active ones first.
    ///   - issuerIDs: the required values of `iss` in a JWS. For an app without one, only the form of `iss` is checked.
    package init(
        keys: [CandidateKey], names: KnownNames = KnownNames(), issuerIDs: IssuerIDs = IssuerIDs(), now: Timestamp
    ) {
        self.keys = keys
        self.names = names
        self.issuerIDs = issuerIDs
        self.now = now
    }

    /// Explains the signature, the JWS or both.
    /// - Throws: the error of a failed libcrypto call.
    package func explanation(of evidence: Evidence) throws -> Explanation {
        var budget = VerificationBudget()
        var verdict: Verdict
        var jwsVerdict: Verdict?
        switch evidence.signature {
        case .v1(let fields, let token):
            // The JWS is checked first, because it needs few verifications.
            jwsVerdict = try token.map { try self.verdict(on: $0, &budget) }
            verdict = try self.verdict(on: fields, &budget)
        case .jws(let token):
            verdict = try self.verdict(on: token, &budget)
        }
        if names.contradictsPlan(of: evidence) { verdict.warnings.append(.anotherBillingPlan) }
        let isGood = verdict.isGood && jwsVerdict?.isGood ?? true
        return Explanation(
            verdict: verdict, jwsVerdict: jwsVerdict,
            storeKit: evidence.storeKitError.map { advice(on: String(decoding: $0, as: UTF8.self), isGood: isGood) },
            verificationCount: budget.count)
    }

    private func advice(on text: String, isGood: Bool) -> Explanation.StoreKitAdvice {
        let error = StoreKitError(text)
        return Explanation.StoreKitAdvice(
            error: error?.names.first ?? ReadableText.marked(Array(text.utf8)),
            check: error?.check(isGood: isGood) ?? StoreKitError.checkOfUnknown)
    }

    // MARK: V1

    private func verdict(on fields: PresentedFields, _ budget: inout VerificationBudget) throws -> Verdict {
        let readings = SignatureReading.all(of: fields.signature, field: "signature")
        var search = PayloadSearch(fields, keys: keys, names: names, budget: budget)
        let proof = try search.proof(of: readings)
        budget = search.budget
        let defects = FieldDefects(fields)
        var findings = proof?.findings ?? []
        if proof == nil {
            findings += readings.first?.findings ?? [SignatureReading.defect(of: fields.signature, field: "signature")]
            var others = defects.all
            others.appendNew(unknownKey(fields.texts[.keyID] ?? [], field: "keyID"))
            if let customer = defects.missingCustomer { others.append(customer) }
            // The search has already undone wrong encodings, so the signature fails for another reason.
            if others.isEmpty, !readings.isEmpty { others = [Finding(.unexplained)] }
            findings += others
        } else {
            findings += defects.fatal.filter { defect in !findings.contains { $0.cause == defect.cause } }
        }
        return Verdict(
            verifies: proof?.findings.isEmpty ?? false, keyID: proof.map { "\($0.key.id)" }, findings: findings,
            payload: fields.payload.readableText,
            signedPayload: proof.flatMap {
                $0.payload.hasText(of: fields.payload) ? nil : $0.payload.readableText
            },
            warnings: warnings(at: defects.timestamp.isEmpty ? fields.milliseconds : nil, of: proof?.key)
                + (proof != nil && defects.hasUndefinedCustomer && findings.isEmpty ? [.customerUndefined] : [])
                + (proof == nil && search.budget.isCutShort ? [.searchCutShort] : []))
    }

    // MARK: JWS

    private func verdict(on token: PresentedToken, _ budget: inout VerificationBudget) throws -> Verdict {
        guard let parts = token.parts else {
            return Verdict(
                verifies: false, keyID: nil, findings: token.findings, payload: "", signedPayload: nil, warnings: [])
        }
        let app = (token.expected.bundleID ?? token.text(ofClaim: "bid")).flatMap { try? BundleID(utf8: $0) }
        let issuerID = app.map { issuerIDs[$0] } ?? issuerIDs.ofAllApps
        let check = ClaimCheck(parts, expected: token.expected, issuerID: issuerID?.uuid.utf8, names: names)
        let search = try TokenSearch(parts, named: token.keyID, keys: keys)
        let proof = try search?.proof(&budget)
        var findings = check.algorithm + token.findings + (proof?.findings ?? [])
        if search == nil { findings.append(Finding(.jwsSignatureMalformed, field: "compactJWS")) }
        findings.appendNew(check.findings)
        if search != nil, proof == nil {
            let unknown = unknownKey(token.keyID ?? [], field: "kid")
            // A wrong claim does not invalidate the signature, so the failure must have another cause.
            findings.appendNew(unknown.isEmpty ? [Finding(.unexplained)] : unknown)
        }
        let isAsPresented = token.findings.isEmpty && check.algorithm.isEmpty
        return Verdict(
            verifies: isAsPresented && proof?.findings.isEmpty ?? false, keyID: proof.map { "\($0.key.id)" },
            findings: findings, payload: ReadableText.marked(parts.claimsText), signedPayload: proof?.signedText,
            warnings: tokenWarnings(check, key: proof?.key)
                + (proof == nil && budget.isCutShort ? [.searchCutShort] : []))
    }

    private func tokenWarnings(_ check: ClaimCheck, key: CandidateKey?) -> [ExplanationWarning] {
        let times = warnings(at: check.issuedAtSeconds.map { $0 * 1000 }, of: key)
        return times.map { $0 == .olderThan24Hours ? .issuedLongAgo : $0 }
            + (check.hasUpperCaseNonce ? [.nonceInCapitals] : [])
            + (check.hasUpperCaseIssuer ? [.issuerInCapitals] : [])
            + (check.hasClaimOfOtherFeature ? [.claimOfOtherKind] : [])
    }

    // MARK: Both

    private func unknownKey(_ id: [UInt8], field: String) -> [Finding] {
        guard !id.isEmpty, !keys.contains(where: { $0.id.text.utf8 == id }) else { return [] }
        for key in keys {
            if let typo = key.id.typo(in: id) { return [Finding(typo, field: field, keyID: "\(key.id)")] }
        }
        return [Finding(.unknownKeyID, field: field, keyID: ReadableText.marked(id))]
    }

    /// - Parameter milliseconds: the time of signing; nil if it is unknown.
    private func warnings(at milliseconds: Int64?, of key: CandidateKey?) -> [ExplanationWarning] {
        var warnings: [ExplanationWarning] = []
        if let milliseconds {
            let (age, overflow) = now.milliseconds.subtractingReportingOverflow(milliseconds)
            if overflow ? milliseconds < 0 : age > Timestamp.signatureLifetimeMilliseconds {
                warnings.append(.olderThan24Hours)
            }
            // Two clocks never agree exactly.
            if overflow ? milliseconds > 0 : age < -60_000 { warnings.append(.aheadOfClock) }
        }
        if let warning = key?.warning { warnings.append(warning) }
        return warnings
    }
}

extension [Finding] {
    /// Appends the findings whose cause and field are not yet in the list.
    fileprivate mutating func appendNew(_ others: [Finding]) {
        for other in others where !contains(where: { $0.cause == other.cause && $0.field == other.field }) {
            append(other)
        }
    }
}
