import AppStoreData
import OfferCore
import OfferCrypto
import Testing

@testable import AppStoreTestSupport

/// A JWS that must be refused, and why.
struct Forgery: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let code: VerificationFailure.Code
    /// The certificate that the sentence names.
    let role: CertificateRole?
    let make: @Sendable (_ chain: TestChain) throws -> Attempt

    init(
        _ name: String, _ code: VerificationFailure.Code, _ role: CertificateRole? = nil,
        make: @escaping @Sendable (_ chain: TestChain) throws -> Attempt
    ) {
        testDescription = name
        self.code = code
        self.role = role
        self.make = make
    }

    /// A forged text under the standard root.
    static func text(
        _ name: String, _ code: VerificationFailure.Code, _ role: CertificateRole? = nil,
        _ make: @escaping @Sendable (_ chain: TestChain) throws -> [UInt8]
    ) -> Forgery {
        Forgery(name, code, role) { Attempt(jws: try make($0), roots: [$0.root]) }
    }

    /// A forged header, which the leaf's key has signed.
    static func header(
        _ name: String, _ code: VerificationFailure.Code, _ role: CertificateRole? = nil,
        _ make: @escaping @Sendable (_ chain: TestChain) throws -> String
    ) -> Forgery {
        text(name, code, role) { try $0.jws(header: make($0)) }
    }

    /// A forged payload, which the leaf's key has signed.
    static func payload(_ name: String, _ code: VerificationFailure.Code, _ payload: String) -> Forgery {
        text(name, code) { try $0.jws(payload: payload) }
    }

    /// A chain with other certificates, and its own root as the only trusted one.
    static func chain(
        _ name: String, _ code: VerificationFailure.Code, _ role: CertificateRole? = nil,
        _ make: @escaping @Sendable () throws -> TestChain
    ) -> Forgery {
        Forgery(name, code, role) { _ in try Attempt(of: make()) }
    }

    static let all = texts + headers + payloads + signatures + certificates + links + validities

    /// The forgeries of ``all`` under their names. Many take a call of the openssl command.
    private static let attempts = Dictionary(
        all.map { forgery in (forgery.testDescription, Result { try forgery.make(TestChain.standard.get()) }) },
        uniquingKeysWith: { first, _ in first })

    /// What the forgery asks, the same at every call.
    var attempt: Attempt {
        get throws {
            guard let attempt = Self.attempts[testDescription] else { throw TestKeyError() }
            return try attempt.get()
        }
    }
}

/// What a verifier is asked.
struct Attempt: Sendable {
    var jws: [UInt8]
    /// The trusted roots in DER.
    var roots: [[UInt8]]
    var date = EffectiveDate.ofSigning(otherwise: TestTime.now)

    init(jws: [UInt8], roots: [[UInt8]], date: EffectiveDate = .ofSigning(otherwise: TestTime.now)) {
        self.jws = jws
        self.roots = roots
        self.date = date
    }

    init(of chain: TestChain) throws { self.init(jws: try chain.jws(), roots: [chain.root]) }

    func verify(knownChains: KnownChains = KnownChains()) throws -> VerifiedPayload {
        let roots = TrustedRoots(try roots.map { try X509Certificate(der: $0) })
        return try JWSVerifier(roots: roots, knownChains: knownChains).verify(jws, at: date)
    }
}

extension String {
    /// Encodes text that is used in place of a part of a JWS.
    var inBase64URL: String { String(decoding: Base64URL.text(of: Array(utf8)), as: UTF8.self) }
}
