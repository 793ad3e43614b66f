import AppStoreData
import OfferCrypto

@testable import AppStoreTestSupport

// What is wrong between certificates, and with their times.
extension Forgery {
    static let links: [Forgery] = [
        Forgery("a chain under a foreign root of the same name", .certificateSignatureInvalid, .intermediate) { chain in
            Attempt(jws: try TestChain().jws(), roots: [chain.root])
        },
        Forgery("a chain under a foreign root of another name", .rootNotTrusted) { chain in
            let foreign = try TestChain(
                root: { ($0.subject, $0.issuer) = ("Foreign", "Foreign") }, intermediate: { $0.issuer = "Foreign" })
            return Attempt(jws: try foreign.jws(), roots: [chain.root])
        },
        Forgery("a foreign chain with the trusted root in x5c", .certificateSignatureInvalid, .intermediate) { chain in
            let foreign = try TestChain()
            let header = foreign.header(x5c: [foreign.leaf, foreign.intermediate, chain.root])
            return Attempt(jws: try foreign.jws(header: header), roots: [chain.root])
        },
        Forgery("the trusted root's key and name in x5c", .certificateSignatureInvalid, .intermediate) { chain in
            // The root of CVE-2020-0601: the genuine public key, but parameters of the forger's choice.
            let explicit = try TestKey.made(by: "EC", "ec_paramgen_curve:P-256", isCurveExplicit: true)
            let foreign = try TestChain(rootKey: explicit)
            let root = try TestChain.root(explicit.withPublicKey(chain.rootKey.publicKey)).signed(by: explicit)
            let header = foreign.header(x5c: [foreign.leaf, foreign.intermediate, root])
            return Attempt(jws: try foreign.jws(header: header), roots: [chain.root])
        },
        text("no root is trusted", .rootNotTrusted) { try $0.jws() }.trusting { _ in [] },
        text("Apple's roots alone are trusted", .rootNotTrusted) { try $0.jws() }.trusting { _ in
            AppleRoots.certificates.map(\.der)
        },
        text("a root of another name is trusted, but has expired", .rootNotTrusted) { try $0.jws() }.trusting { chain in
            var root = TestChain.root(chain.rootKey)
            (root.subject, root.issuer) = ("Another Root", "Another Root")
            root.notAfter = TestTime.now - 1
            return [(try? root.signed(by: chain.rootKey)) ?? []]
        },
        text("the intermediate alone is trusted", .rootNotTrusted) { try $0.jws() }.trusting { [$0.intermediate] },
        text("the leaf and the intermediate are trusted", .rootNotTrusted) { try $0.jws() }
            .trusting { [$0.leaf, $0.intermediate] },
        text("a certificate of the root's key that another root issued is trusted", .rootNotTrusted) { try $0.jws() }
            .trusting { chain in
                var root = TestChain.root(chain.rootKey)
                root.issuer = "Another Root"
                return [(try? root.signed(by: chain.intermediateKey)) ?? []]
            },
        header("leaf and intermediate swapped", .leafIsCA) { $0.header(x5c: [$0.intermediate, $0.leaf, $0.root]) },
        header("the root first", .leafIsCA) { $0.header(x5c: [$0.root, $0.intermediate, $0.leaf]) },
        header("the leaf twice", .certificateNotCA, .intermediate) { $0.header(x5c: [$0.leaf, $0.leaf, $0.root]) },
        header("the root in place of the intermediate", .leafNotIssuedByIntermediate) {
            $0.header(x5c: [$0.leaf, $0.root, $0.root])
        },
        Forgery("a leaf that the root issued", .rootNotTrusted) { chain in
            var leaf = TestChain.leaf(chain.leafKey)
            leaf.issuer = "Test Root CA"
            leaf.put(.authorityKeyIdentifier([1]))
            let header = chain.header(x5c: [try leaf.signed(by: chain.rootKey), chain.root, chain.root])
            return Attempt(jws: try chain.jws(header: header), roots: [chain.root])
        },
        Forgery("a leaf that the root issued, beside the intermediate", .leafNotIssuedByIntermediate) { chain in
            var leaf = TestChain.leaf(chain.leafKey)
            leaf.issuer = "Test Root CA"
            leaf.put(.authorityKeyIdentifier([1]))
            let header = chain.header(x5c: [try leaf.signed(by: chain.rootKey), chain.intermediate, chain.root])
            return Attempt(jws: try chain.jws(header: header), roots: [chain.root])
        },
        Forgery("a leaf that the root issued, beside an intermediate of the root's name", .rootNotTrusted) { chain in
            var leaf = TestChain.leaf(chain.leafKey)
            leaf.issuer = "Test Root CA"
            leaf.put(.authorityKeyIdentifier([1]))
            var intermediate = TestChain.intermediate(chain.intermediateKey)
            intermediate.subject = "Test Root CA"
            let header = chain.header(
                x5c: [try leaf.signed(by: chain.rootKey), try intermediate.signed(by: chain.rootKey), chain.root])
            return Attempt(jws: try chain.jws(header: header), roots: [chain.root])
        },
        Forgery("a chain of four certificates", .rootNotTrusted) { chain in
            let middle = try TestKey.p256()
            var second = TestChain.intermediate(middle)
            second.subject = "Second"
            second.put(.basicConstraints(isCA: true))
            var third = TestChain.intermediate(chain.intermediateKey)
            third.issuer = "Second"
            let header = chain.header(
                x5c: [chain.leaf, try third.signed(by: middle), try second.signed(by: chain.rootKey)])
            return Attempt(jws: try chain.jws(header: header), roots: [chain.root])
        },
        leaf("a leaf that names another issuer", .leafNotIssuedByIntermediate) { $0.issuer = "Somebody Else" },
        leaf("a leaf that names another key of its issuer", .leafNotIssuedByIntermediate) {
            $0.put(.authorityKeyIdentifier([9]))
        },
        leaf("a leaf signed by a foreign key", .certificateSignatureInvalid, .leaf, key: { _ in try .p256() }) { _ in },
        leaf("a leaf signed by the root's key", .certificateSignatureInvalid, .leaf, key: { $0.rootKey }) { _ in },
        leaf("a leaf that signed itself", .certificateSignatureInvalid, .leaf, key: { $0.leafKey }) { _ in },
        leaf("a leaf that signed itself and says so", .leafNotIssuedByIntermediate, key: { $0.leafKey }) {
            $0.issuer = $0.subject
            $0.put(.authorityKeyIdentifier([3]))
        },
        Forgery("a foreign intermediate of the genuine name", .certificateSignatureInvalid, .intermediate) { chain in
            let foreign = try TestChain()
            let key = foreign.intermediateKey
            let header = foreign.header(
                x5c: [foreign.leaf, try TestChain.intermediate(key).signed(by: key), chain.root])
            return Attempt(jws: try foreign.jws(header: header), roots: [chain.root])
        },
        Forgery("a genuine leaf beside a foreign intermediate", .certificateSignatureInvalid, .leaf) { chain in
            let key = try TestKey.p256()
            let header = chain.header(
                x5c: [chain.leaf, try TestChain.intermediate(key).signed(by: chain.rootKey), chain.root])
            return Attempt(jws: try chain.jws(header: header), roots: [chain.root])
        },
        header("a bit turned in the leaf's signature", .certificateSignatureInvalid, .leaf) {
            $0.header(x5c: [$0.leaf.turningLastBit, $0.intermediate, $0.root])
        },
        header("a bit turned in the intermediate's signature", .certificateSignatureInvalid, .intermediate) {
            $0.header(x5c: [$0.leaf, $0.intermediate.turningLastBit, $0.root])
        },
        header("a letter changed in the leaf's name", .certificateSignatureInvalid, .leaf) { chain in
            chain.header(x5c: [chain.leaf.changing("Signing", to: "Singing"), chain.intermediate, chain.root])
        },
        header("a letter changed in the leaf's issuer", .leafNotIssuedByIntermediate) { chain in
            chain.header(x5c: [chain.leaf.changing("Developer", to: "developed"), chain.intermediate, chain.root])
        },
        Forgery("one certificate, which a root signed with itself as in Xcode", .certificateCount) { chain in
            var certificate = TestChain.root(chain.rootKey)
            certificate.put(.marker(AppleMarker.receiptSigner))
            let root = try certificate.signed(by: chain.rootKey)
            return Attempt(jws: try chain.jws(header: chain.header(x5c: [root]), key: chain.rootKey), roots: [root])
        },
    ]

    static let validities: [Forgery] =
        [
            ("the leaf", CertificateRole.leaf), ("the intermediate", .intermediate), ("the root", .root),
        ].flatMap { name, role in
            [
                chain("\(name) expired a second before signing", .certificateExpired, role) {
                    try TestChain(role) { $0.notAfter = TestTime.now - 1 }
                },
                chain("\(name) becomes valid a second after signing", .certificateNotYetValid, role) {
                    try TestChain(role) { $0.notBefore = TestTime.now + 1 }
                },
                chain("\(name) becomes valid after it expires", .certificateNotYetValid, role) {
                    try TestChain(role) { ($0.notBefore, $0.notAfter) = (TestTime.now + 10, TestTime.now - 10) }
                },
            ]
        } + [
            text("expired now, where revocation is checked", .certificateExpired, .leaf) { try $0.jws() }
                .dated(.at(TestTime.end + 1)),
            text("not yet valid now, where revocation is checked", .certificateNotYetValid, .leaf) { try $0.jws() }
                .dated(.at(TestTime.start - 1)),
            payload("signed after the certificates expired", .certificateExpired, signed(TestTime.end + 1)).of(.leaf),
            payload("signed before the certificates were valid", .certificateNotYetValid, signed(TestTime.start - 1))
                .of(.leaf),
            payload(
                "created after the certificates expired", .certificateExpired, #"{"receiptCreationDate":1800000001000}"#
            )
            .of(.leaf),
            payload("without a date, and expired now", .certificateExpired, "{}").of(.leaf)
                .dated(.ofSigning(otherwise: TestTime.end + 1)),
            payload("signed in 1969", .certificateNotYetValid, #"{"signedDate":-1}"#).of(.leaf),
            payload("dated in seconds instead of milliseconds", .certificateNotYetValid, #"{"signedDate":1750000000}"#)
                .of(.leaf),
            payload(
                "two dates, of which the creation of the receipt is in time", .certificateExpired,
                #"{"receiptCreationDate":1750000000000,"signedDate":1800000001000}"#
            ).of(.leaf),
        ]

    private static func signed(_ seconds: Int64) -> String { #"{"signedDate":\#(seconds)000}"# }

    private static func leaf(
        _ name: String, _ code: VerificationFailure.Code, _ role: CertificateRole? = nil,
        key: @escaping @Sendable (TestChain) throws -> TestKey = { $0.intermediateKey },
        _ change: @escaping @Sendable (inout TestCertificate) -> Void
    ) -> Forgery {
        header(name, code, role) { chain in
            var leaf = TestChain.leaf(chain.leafKey)
            change(&leaf)
            return chain.header(x5c: [try leaf.signed(by: key(chain)), chain.intermediate, chain.root])
        }
    }

    private func trusting(_ roots: @escaping @Sendable (TestChain) -> [[UInt8]]) -> Forgery {
        Forgery(testDescription, code, role) { Attempt(jws: try make($0).jws, roots: roots($0)) }
    }

    private func dated(_ date: EffectiveDate) -> Forgery {
        Forgery(testDescription, code, role) { chain in
            var attempt = try make(chain)
            attempt.date = date
            return attempt
        }
    }

    private func of(_ role: CertificateRole) -> Forgery { Forgery(testDescription, code, role, make: make) }
}

extension TestChain {
    /// A chain of which one certificate is changed before it is signed.
    fileprivate init(_ role: CertificateRole, _ change: (inout TestCertificate) -> Void) throws {
        switch role {
        case .leaf: try self.init(leaf: change)
        case .intermediate: try self.init(intermediate: change)
        case .root: try self.init(root: change)
        }
    }
}

extension [UInt8] {
    fileprivate var turningLastBit: [UInt8] { dropLast() + [self[count - 1] ^ 1] }

    /// Replaces text by as many bytes of other text.
    fileprivate func changing(_ text: String, to other: String) -> [UInt8] { replacing(text.utf8, with: other.utf8) }
}
