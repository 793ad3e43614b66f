import AppStoreData
import OfferCrypto
import Testing

@testable import AppStoreTestSupport

@Suite("Known chains")
struct KnownChainsTests {
    private let known = KnownChains()

    @Test("a pair of leaf and intermediate is remembered once, however often it signs")
    func once() throws {
        let chain = try TestChain.standard.get()
        for number in 0..<5 {
            let jws = try chain.jws(payload: #"{"number":\#(number),"signedDate":\#(TestTime.now)000}"#)
            _ = try Attempt(jws: jws, roots: [chain.root]).verify(knownChains: known)
        }
        #expect(known.count == 1)
    }

    @Test("a known chain is not verified again")
    func hit() throws {
        let chain = try TestChain.standard.get()
        let attempt = try Attempt(of: chain)
        let first = try attempt.verify(knownChains: known)
        #expect(try attempt.verify(knownChains: known).chain.leaf === first.chain.leaf)
    }

    @Test("a known chain is refused outside the validity of any certificate", arguments: CertificateRole.allCases)
    func validity(role: CertificateRole) throws {
        let narrow = { (certificate: inout TestCertificate) in
            (certificate.notBefore, certificate.notAfter) = (TestTime.now, TestTime.now)
        }
        let keep = { (_: inout TestCertificate) in }
        let chain = try TestChain(
            root: role == .root ? narrow : keep, intermediate: role == .intermediate ? narrow : keep,
            leaf: role == .leaf ? narrow : keep)
        let headers = [
            chain.header, chain.header(x5c: [chain.leaf, chain.intermediate, chain.root], rest: #","kid":"1""#),
        ]
        _ = try Attempt(of: chain).verify(knownChains: known)
        for header in headers {
            for (seconds, code) in [(-1, .certificateNotYetValid), (1, .certificateExpired)]
                as [(Int64, VerificationFailure.Code)]
            {
                let attempt = Attempt(
                    jws: try chain.jws(header: header), roots: [chain.root], date: .at(TestTime.now + seconds))
                #expect(throws: VerificationFailure(code, role)) { try attempt.verify(knownChains: known) }
            }
        }
        #expect(known.count == 1)
    }

    @Test("a leaf of another intermediate is another chain")
    func pairs() throws {
        let chain = try TestChain.standard.get()
        _ = try Attempt(of: chain).verify(knownChains: known)
        let intermediate = try TestChain.intermediate(chain.intermediateKey).signed(by: chain.rootKey)
        let header = chain.header(x5c: [chain.leaf, intermediate, chain.root])
        let other = try Attempt(jws: chain.jws(header: header), roots: [chain.root]).verify(knownChains: known)
        #expect(other.chain.intermediate?.der == intermediate && known.count == 2)
    }

    @Test("a chain that is refused is not remembered", arguments: Forgery.certificates + Forgery.links)
    func refused(forgery: Forgery) throws {
        let attempt = try forgery.attempt
        _ = try? attempt.verify(knownChains: known)
        #expect(known.count == 0)
    }

    @Test(
        "another leaf of a known intermediate is verified below it, with all other checks",
        arguments: [CertificateRole.intermediate, .root])
    func otherLeaf(role: CertificateRole) throws {
        let narrow = { (certificate: inout TestCertificate) in
            (certificate.notBefore, certificate.notAfter) = (TestTime.now, TestTime.now)
        }
        let keep = { (_: inout TestCertificate) in }
        let chain = try TestChain(
            root: role == .root ? narrow : keep, intermediate: role == .intermediate ? narrow : keep, leaf: keep)
        let first = try Attempt(of: chain).verify(knownChains: known)
        func attempt(signedBy issuer: TestKey, at seconds: Int64 = TestTime.now) throws -> Attempt {
            var leaf = TestChain.leaf(chain.leafKey)
            leaf.serialNumber = 4711
            let header = chain.header(x5c: [try leaf.signed(by: issuer), chain.intermediate, chain.root])
            return Attempt(jws: try chain.jws(header: header), roots: [chain.root], date: .at(seconds))
        }
        #expect(throws: VerificationFailure(.certificateSignatureInvalid, .leaf)) {
            try attempt(signedBy: chain.rootKey).verify(knownChains: known)
        }
        for (seconds, code) in [(-1, .certificateNotYetValid), (1, .certificateExpired)]
            as [(Int64, VerificationFailure.Code)]
        {
            #expect(throws: VerificationFailure(code, role)) {
                try attempt(signedBy: chain.intermediateKey, at: TestTime.now + seconds).verify(knownChains: known)
            }
        }
        #expect(known.count == 1)
        let second = try attempt(signedBy: chain.intermediateKey).verify(knownChains: known)
        #expect(second.chain.root === first.chain.root && known.count == 2)
    }

    @Test("no more than 32 are remembered, and the one that has been unused the longest goes first")
    func bound() throws {
        let chain = try TestChain.standard.get()
        func use(_ serialNumber: Int) throws -> VerifiedPayload {
            var leaf = TestChain.leaf(chain.leafKey)
            leaf.serialNumber = serialNumber
            let header = chain.header(
                x5c: [try leaves[serialNumber] ?? leaf.signed(by: chain.intermediateKey), chain.intermediate, []])
            let verified = try Attempt(jws: chain.jws(header: header), roots: [chain.root]).verify(knownChains: known)
            leaves[serialNumber] = verified.chain.leaf.der
            return verified
        }
        var leaves: [Int: [UInt8]] = [:]
        let first = try use(0)
        let second = try use(1)
        for number in 2..<KnownChains.maximumCount { _ = try use(number) }
        #expect(try use(0).chain.leaf === first.chain.leaf)
        _ = try use(1000)
        #expect(known.count == KnownChains.maximumCount)
        #expect(try use(0).chain.leaf === first.chain.leaf)
        #expect(try use(1).chain.leaf !== second.chain.leaf)
    }

    @Test(
        "a revoked certificate is refused at once and from then on", arguments: [CertificateRole.leaf, .intermediate])
    func revoked(role: CertificateRole) throws {
        let chain = try TestChain.standard.get()
        let attempt = try Attempt(of: chain)
        _ = try attempt.verify(knownChains: known)
        known.revoke(try X509Certificate(der: role == .leaf ? chain.leaf : chain.intermediate).identity)
        #expect(known.count == 0)
        for _ in 0..<2 {
            #expect(throws: VerificationFailure(.certificateRevoked, role)) {
                try attempt.verify(knownChains: known)
            }
        }
        #expect(known.count == 0)
    }

    @Test("a revoked certificate stays revoked with another signature")
    func revokedVariant() throws {
        let chain = try TestChain.standard.get()
        _ = try Attempt(of: chain).verify(knownChains: known)
        known.revoke(try X509Certificate(der: chain.leaf).identity)
        // ECDSA signatures are random, so the same contents are signed differently.
        let variant = try TestChain.leaf(chain.leafKey).signed(by: chain.intermediateKey)
        #expect(variant != chain.leaf)
        let header = chain.header(x5c: [variant, chain.intermediate, chain.root])
        let attempt = Attempt(jws: try chain.jws(header: header), roots: [chain.root])
        #expect(throws: VerificationFailure(.certificateRevoked, .leaf)) { try attempt.verify(knownChains: known) }
    }

    @Test("the revocation of a certificate leaves others alone")
    func otherRevoked() throws {
        let attempt = try Attempt(of: TestChain.standard.get())
        _ = try attempt.verify(knownChains: known)
        for number in 0..<1000 { known.revoke(try SHA256.hash([UInt8(number % 256), UInt8(number / 256)])) }
        #expect(known.count == 1)
        #expect(try attempt.verify(knownChains: known).effectiveDate == TestTime.now)
    }

    @Test("a known header leads to its chain, and does not outlive it")
    func header() throws {
        let chain = try TestChain.standard.get()
        let attempt = try Attempt(of: chain)
        let first = try attempt.verify(knownChains: known)
        // With the same header, nothing but the validity and the signature is looked at.
        #expect(try attempt.verify(knownChains: known).chain.leaf === first.chain.leaf)
        #expect(throws: VerificationFailure(.certificateExpired, .leaf)) {
            try Attempt(jws: attempt.jws, roots: attempt.roots, date: .at(TestTime.end + 1))
                .verify(knownChains: known)
        }
        let rest = chain.header(x5c: [chain.leaf, chain.intermediate, chain.root], rest: #","kid":"1""#)
        let other = try Attempt(jws: chain.jws(header: rest), roots: [chain.root])
        #expect(try other.verify(knownChains: known).chain.leaf === first.chain.leaf)
        #expect(try attempt.verify(knownChains: known).chain.leaf === first.chain.leaf)
        known.revoke(first.chain.leaf.identity)
        for attempt in [attempt, other] {
            #expect(throws: VerificationFailure(.certificateRevoked, .leaf)) {
                try attempt.verify(knownChains: known)
            }
        }
    }

    @Test("a precomputed key accepts what it accepted before, and is precomputed once")
    func precomputed() throws {
        let chain = try TestChain.standard.get()
        #expect(!known.canPrecompute)
        try known.precompute()
        _ = try Attempt(of: chain).verify(knownChains: known)
        #expect(known.canPrecompute)
        try known.precompute()
        #expect(!known.canPrecompute)
        for number in 0..<50 {
            let payload = #"{"number":\#(number)}"#
            let attempt = Attempt(jws: try chain.jws(payload: payload), roots: [chain.root])
            #expect(try attempt.verify(knownChains: known).bytes == Array(payload.utf8))
            let other = Attempt(jws: try chain.jws(payload: payload, key: chain.rootKey), roots: [chain.root])
            #expect(throws: VerificationFailure(.signatureInvalid)) { try other.verify(knownChains: known) }
        }
        #expect(!known.canPrecompute)
    }

    @Test("threads may share a verifier")
    func concurrent() async throws {
        let chain = try TestChain.standard.get()
        let (good, bad) = (try Attempt(of: chain), try Attempt(of: TestChain()))
        let verifier = JWSVerifier(roots: TrustedRoots([try X509Certificate(der: chain.root)]))
        await withTaskGroup(of: Bool.self) { group in
            for number in 0..<64 {
                group.addTask {
                    (try? verifier.verify(number % 2 == 0 ? good.jws : bad.jws, at: good.date)) != nil
                }
            }
            var count = 0
            for await isGood in group where isGood { count += 1 }
            #expect(count == 32)
        }
        #expect(verifier.knownChains.count == 1)
    }
}
