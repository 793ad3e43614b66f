import AppStoreData
import OfferCore
import OfferCrypto
import OfferEligibility
import TestSupport
import Testing

@testable import AppStoreTestSupport

@Suite("App Store JWS")
struct JWSVerifierTests {
    private let chain: TestChain
    private let verifier: JWSVerifier

    init() throws {
        chain = try TestChain.standard.get()
        verifier = JWSVerifier(roots: TrustedRoots([try X509Certificate(der: chain.root)]))
    }

    @Test("a signed payload is returned byte for byte, with its members and certificates")
    func good() throws {
        let verified = try verifier.verify(chain.jws(), at: .ofSigning(otherwise: 0))
        #expect(verified.bytes == Array(TestChain.payload.utf8))
        #expect(verified.members["bundleId"] == .string(Array("com.example.app".utf8)))
        #expect(verified.effectiveDate == TestTime.now)
        #expect(verified.chain.leaf.der == chain.leaf && verified.chain.intermediate?.der == chain.intermediate)
        #expect(verified.chain.root.der == chain.root && !verified.chain.isXcode)
    }

    @Test("the chain of these tests is one that openssl verify accepts")
    func openssl() throws {
        let folder = try TemporaryFolder()
        for (name, der) in [("root", chain.root), ("intermediate", chain.intermediate), ("leaf", chain.leaf)] {
            try OpenSSL.run(["x509", "-inform", "DER", "-out", "\(folder.path)/\(name)"], input: der)
        }
        let answer = try OpenSSL.run(
            [
                "verify", "-x509_strict", "-attime", "\(TestTime.now)", "-no-CAfile", "-no-CApath", "-no-CAstore",
                "-CAfile", "\(folder.path)/root", "-untrusted", "\(folder.path)/intermediate", "\(folder.path)/leaf",
            ])
        #expect(answer.hasSuffix(": OK\n"))
    }

    struct Variant: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let make: @Sendable () throws -> TestChain
    }

    static let variants: [Variant] = [
        Variant(testDescription: "CA keys on P-384 and signatures with SHA-384") {
            try TestChain(
                rootKey: .made(by: "EC", "ec_paramgen_curve:P-384"),
                intermediateKey: .made(by: "EC", "ec_paramgen_curve:P-384"),
                intermediate: { $0.digest = "sha384" }, leaf: { $0.digest = "sha384" })
        },
        Variant(testDescription: "CA keys of RSA") {
            try TestChain(
                rootKey: .made(by: "RSA", "rsa_keygen_bits:4096"),
                intermediateKey: .made(by: "RSA", "rsa_keygen_bits:2048"))
        },
        Variant(testDescription: "critical markers") {
            try TestChain(
                intermediate: { $0.put(.marker(AppleMarker.developerRelations, isCritical: true)) },
                leaf: { $0.put(.marker(AppleMarker.receiptSigner, isCritical: true)) })
        },
        Variant(testDescription: "unknown extensions that are not critical") {
            try TestChain(intermediate: { $0.put(.marker("1.2.3")) }, leaf: { $0.put(.marker("1.2.3")) })
        },
        Variant(testDescription: "no key identifiers") {
            try TestChain(intermediate: { $0.remove("2.5.29.35") }, leaf: { $0.remove("2.5.29.35") })
        },
        Variant(testDescription: "no basic constraints or key usage in the leaf") {
            try TestChain(leaf: {
                $0.remove("2.5.29.19")
                $0.remove("2.5.29.15")
            })
        },
        Variant(testDescription: "no path length in the intermediate") {
            try TestChain(intermediate: { $0.put(.basicConstraints(isCA: true)) })
        },
        Variant(testDescription: "a path length of one in the root") {
            try TestChain(root: { $0.put(.basicConstraints(isCA: true, pathLength: 1)) })
        },
        Variant(testDescription: "a leaf that is valid for the second of signing alone") {
            try TestChain(leaf: { ($0.notBefore, $0.notAfter) = (TestTime.now, TestTime.now) })
        },
        Variant(testDescription: "an intermediate and a root that are valid for the second of signing alone") {
            try TestChain(
                root: { ($0.notBefore, $0.notAfter) = (TestTime.now, TestTime.now) },
                intermediate: { ($0.notBefore, $0.notAfter) = (TestTime.now, TestTime.now) })
        },
        Variant(testDescription: "a root that is valid beyond 2050") {
            try TestChain(root: { $0.notAfter = 4_000_000_000 })
        },
    ]

    @Test("a chain may differ from the usual one where the rules allow it", arguments: variants)
    func accepted(variant: Variant) throws {
        let known = KnownChains()
        let attempt = try Attempt(of: variant.make())
        for _ in 0..<2 { #expect(try attempt.verify(knownChains: known).effectiveDate == TestTime.now) }
        #expect(known.count == 1)
    }

    @Test("trusted roots may share a name, and an expired one does not stand in the way")
    func rootsOfOneName() throws {
        let others = try (0..<3).map { _ in try TestChain().root }
        var expired = TestChain.root(chain.rootKey)
        expired.notAfter = TestTime.now - 1
        let roots = others + [try expired.signed(by: chain.rootKey), chain.root]
        #expect(try Attempt(jws: chain.jws(), roots: roots).verify().chain.root.der == chain.root)
    }

    @Test("the third certificate of x5c only counts")
    func thirdCertificate() throws {
        for other in [[], [0], chain.leaf, try TestChain().root, [UInt8](repeating: 0, count: 30_000)] as [[UInt8]] {
            let header = chain.header(x5c: [chain.leaf, chain.intermediate, other])
            #expect(try verifier.verify(chain.jws(header: header), at: .at(TestTime.now)).chain.root.der == chain.root)
        }
        let notBase64 = #"{"alg":"ES256","x5c":["\#(text(chain.leaf))","\#(text(chain.intermediate))","?"]}"#
        #expect(try verifier.verify(chain.jws(header: notBase64), at: .at(TestTime.now)).effectiveDate == TestTime.now)
    }

    private func text(_ der: [UInt8]) -> String { String(decoding: Base64.text(of: der), as: UTF8.self) }

    @Test(
        "members of the header that decide nothing are ignored",
        arguments: [#","kid":"1""#, #","typ":"JWT""#, #","b64":false"#, #","a":{"b":[[[null]]]}"#, #","jwk":{}"#])
    func headerMembers(rest: String) throws {
        let header = chain.header(x5c: [chain.leaf, chain.intermediate, chain.root], rest: rest)
        #expect(try verifier.verify(chain.jws(header: header), at: .at(TestTime.now)).effectiveDate == TestTime.now)
    }

    @Test(
        "the effective date is the date of signing where old data is read",
        arguments: [
            (#"{"signedDate":1750000000999}"#, 1_750_000_000), (#"{"signedDate":1750000000000.75}"#, 1_750_000_000),
            (#"{"signedDate":1.75e12}"#, 1_750_000_000), (#"{"receiptCreationDate":1740000000000}"#, 1_740_000_000),
            (#"{"receiptCreationDate":1,"signedDate":1740000000000}"#, 1_740_000_000), ("{}", 1_760_000_000),
            (#"{"data":{"signedDate":1}}"#, 1_760_000_000), (#"{"requestDate":1,"SignedDate":1}"#, 1_760_000_000),
        ] as [(String, Int64)])
    func effectiveDate(payload: String, seconds: Int64) throws {
        let verified = try verifier.verify(chain.jws(payload: payload), at: .ofSigning(otherwise: 1_760_000_000))
        #expect(verified.effectiveDate == seconds)
    }

    @Test("trap 41: data signed by a leaf that has expired since verifies by its own date, also after the rotation")
    func rotatedLeaf() throws {
        let key = try TestKey.p256()
        let (overlap, years) = (TestTime.now + 1_000_000, TestTime.now + 40_000_000)
        let old = try TestChain(
            rootKey: chain.rootKey, intermediateKey: chain.intermediateKey, leafKey: key,
            leaf: { ($0.serialNumber, $0.notAfter) = (7, overlap) })
        let text = try old.jws()
        #expect(try verifier.verify(text, at: .ofSigning(otherwise: years)).effectiveDate == TestTime.now)
        let later = #"{"signedDate":\#(years)000}"#
        #expect(try verifier.verify(chain.jws(payload: later), at: .ofSigning(otherwise: 0)).effectiveDate == years)
        #expect(throws: VerificationFailure(.certificateExpired, .leaf)) {
            try verifier.verify(old.jws(payload: later), at: .ofSigning(otherwise: 0))
        }
    }

    @Test("where revocation is checked, the date of signing is not looked at")
    func currentDate() throws {
        for payload in [#"{"signedDate":1}"#, #"{"signedDate":"today"}"#] {
            #expect(
                try verifier.verify(chain.jws(payload: payload), at: .at(TestTime.now)).effectiveDate == TestTime.now)
        }
    }

    @Test("a summary of 175 storefronts is read")
    func longArray() throws {
        let codes = [String](repeating: #""USA""#, count: 175).joined(separator: ",")
        let payload = #"{"summary":{"storefrontCountryCodes":[\#(codes)]}}"#
        #expect(try verifier.verify(chain.jws(payload: payload), at: .at(TestTime.now)).bytes == Array(payload.utf8))
    }

    @Test("a JWS of 250 kB is read")
    func large() throws {
        let payload = #"{"a":""# + String(repeating: "a", count: 187_500) + #""}"#
        #expect(try verifier.verify(chain.jws(payload: payload), at: .at(TestTime.now)).bytes.count == 187_508)
    }

    @Test("any signed JWS with one byte changed is refused", arguments: 0..<40 as Range<UInt64>)
    func changedByte(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        let jws = try chain.jws()
        // Nothing is decoded of the third certificate, but the signature covers it.
        for _ in 0..<50 {
            var other = jws
            let index = Int.random(in: jws.indices, using: &random)
            other[index] = UInt8.random(in: .min ... .max, using: &random)
            guard other != jws else { continue }
            #expect(throws: VerificationFailure.self, "byte \(index)") {
                try verifier.verify(other, at: .at(TestTime.now))
            }
        }
    }
}

@Suite("JWS signed by Xcode")
struct XcodeJWSTests {
    private let key: TestKey
    private let root: [UInt8]
    private let jws: [UInt8]

    init() throws {
        let chain = try TestChain.standard.get()
        key = chain.rootKey
        root = try TestChain.root(key).signed(by: key)
        jws = try chain.jws(header: chain.header(x5c: [root], rest: #","kid":"Apple_Xcode_Key""#), key: key)
    }

    private func verify(_ roots: [[UInt8]], at date: EffectiveDate = .ofSigning(otherwise: 0)) throws -> VerifiedPayload
    {
        let roots = TrustedRoots(try roots.map { try X509Certificate(der: $0) })
        return try JWSVerifier(roots: roots, allowsXcode: true).verify(jws, at: date)
    }

    @Test("in development, a trusted certificate may sign data itself")
    func trusted() throws {
        let verified = try verify([root])
        #expect(verified.chain.isXcode && verified.chain.leaf.der == root && verified.chain.root.der == root)
    }

    @Test("another certificate may not, even of the same key")
    func foreign() throws {
        let sameKey = try TestChain.root(key).signed(by: key)
        #expect(throws: VerificationFailure(.rootNotTrusted)) { try verify([sameKey]) }
        #expect(throws: VerificationFailure(.rootNotTrusted)) { try verify([]) }
    }

    @Test("the certificate's validity counts")
    func validity() {
        #expect(throws: VerificationFailure(.certificateExpired, .leaf)) {
            try verify([root], at: .at(TestTime.end + 1))
        }
        #expect(throws: VerificationFailure(.certificateNotYetValid, .leaf)) { try verify([root], at: .at(0)) }
    }

    @Test("the certificate's key must be on P-256")
    func curve() throws {
        let key = try TestKey.made(by: "EC", "ec_paramgen_curve:P-384")
        let root = try TestChain.root(key).signed(by: key)
        let chain = try TestChain.standard.get()
        let jws = try chain.jws(header: chain.header(x5c: [root]), key: .p256())
        let verifier = JWSVerifier(roots: TrustedRoots([try X509Certificate(der: root)]), allowsXcode: true)
        #expect(throws: VerificationFailure(.leafKeyNotP256)) { try verifier.verify(jws, at: .at(TestTime.now)) }
    }

    @Test("in development, a forgery is refused for the same reason", arguments: Forgery.all)
    func forgeries(forgery: Forgery) throws {
        let attempt = try forgery.attempt
        let roots = TrustedRoots(try attempt.roots.map { try X509Certificate(der: $0) })
        #expect(throws: VerificationFailure.self) {
            let verified = try JWSVerifier(roots: roots, allowsXcode: true).verify(attempt.jws, at: attempt.date)
            // The one thing that Xcode may do.
            if verified.chain.isXcode { throw VerificationFailure(.certificateCount) }
        }
    }
}
