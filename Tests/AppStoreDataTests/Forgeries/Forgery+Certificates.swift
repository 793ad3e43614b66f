import AppStoreData
import OfferCrypto
import TestSupport

@testable import AppStoreTestSupport

// What is wrong with one certificate, whose issuer has signed it.
extension Forgery {
    static let certificates: [Forgery] = markers + keys + authorities + extensions + algorithms

    private static let markers: [Forgery] = [
        chain("a leaf without the marker", .certificateMarkerMissing, .leaf) {
            try TestChain(leaf: { $0.remove(AppleMarker.receiptSigner) })
        },
        chain("a leaf with the next marker", .certificateMarkerMissing, .leaf) {
            try TestChain(leaf: { $0.replaceMarker(AppleMarker.receiptSigner, by: "1.2.840.113635.100.6.11.2") })
        },
        chain("a leaf with the intermediate's marker", .certificateMarkerMissing, .leaf) {
            try TestChain(leaf: { $0.replaceMarker(AppleMarker.receiptSigner, by: AppleMarker.developerRelations) })
        },
        chain("a leaf with a marker below the right one", .certificateMarkerMissing, .leaf) {
            try TestChain(leaf: { $0.replaceMarker(AppleMarker.receiptSigner, by: AppleMarker.receiptSigner + ".1") })
        },
        chain("a leaf with the marker as a key purpose", .certificateMarkerMissing, .leaf) {
            try TestChain(leaf: {
                $0.remove(AppleMarker.receiptSigner)
                $0.put(.init(oid: "2.5.29.37", value: DER.sequence(DER.oid(AppleMarker.receiptSigner))))
            })
        },
        chain("an intermediate without the marker", .certificateMarkerMissing, .intermediate) {
            try TestChain(intermediate: { $0.remove(AppleMarker.developerRelations) })
        },
        chain("an intermediate with the next marker", .certificateMarkerMissing, .intermediate) {
            try TestChain(intermediate: {
                $0.replaceMarker(AppleMarker.developerRelations, by: "1.2.840.113635.100.6.2.2")
            })
        },
        chain("an intermediate with the leaf's marker", .certificateMarkerMissing, .intermediate) {
            try TestChain(intermediate: {
                $0.replaceMarker(AppleMarker.developerRelations, by: AppleMarker.receiptSigner)
            })
        },
        chain("markers in each other's certificate", .certificateMarkerMissing, .leaf) {
            try TestChain(
                intermediate: { $0.replaceMarker(AppleMarker.developerRelations, by: AppleMarker.receiptSigner) },
                leaf: { $0.replaceMarker(AppleMarker.receiptSigner, by: AppleMarker.developerRelations) })
        },
    ]

    private static let keys: [Forgery] = [
        leafKey("on P-384", .leafKeyNotP256) { try .made(by: "EC", "ec_paramgen_curve:P-384") },
        leafKey("on P-521", .leafKeyNotP256) { try .made(by: "EC", "ec_paramgen_curve:P-521") },
        leafKey("of RSA", .leafKeyNotP256) { try .made(by: "RSA", "rsa_keygen_bits:2048") },
        leafKey("on secp256k1", .certificateWeakKey, .leaf) { try .made(by: "EC", "ec_paramgen_curve:secp256k1") },
        leafKey("on P-224", .certificateWeakKey, .leaf) { try .made(by: "EC", "ec_paramgen_curve:P-224") },
        leafKey("of Ed25519", .certificateWeakKey, .leaf) { try .made(by: "ED25519", nil) },
        leafKey("with explicit parameters (CVE-2020-0601)", .certificateExplicitCurve, .leaf) {
            try .made(by: "EC", "ec_paramgen_curve:P-256", isCurveExplicit: true)
        },
        chain("an intermediate key with explicit parameters", .certificateExplicitCurve, .intermediate) {
            try TestChain(intermediateKey: .made(by: "EC", "ec_paramgen_curve:P-256", isCurveExplicit: true))
        },
        chain("a root key with explicit parameters", .certificateExplicitCurve, .root) {
            try TestChain(rootKey: .made(by: "EC", "ec_paramgen_curve:P-256", isCurveExplicit: true))
        },
        chain("an intermediate key on secp256k1", .certificateWeakKey, .intermediate) {
            try TestChain(intermediateKey: .made(by: "EC", "ec_paramgen_curve:secp256k1"))
        },
        chain("an intermediate key of RSA with 1024 bits", .certificateWeakKey, .intermediate) {
            try TestChain(intermediateKey: .made(by: "RSA", "rsa_keygen_bits:1024"))
        },
        chain("a root key of RSA with 1024 bits", .certificateWeakKey, .root) {
            try TestChain(rootKey: .made(by: "RSA", "rsa_keygen_bits:1024"))
        },
    ]

    private static let authorities: [Forgery] = [
        chain("a leaf that is a CA", .leafIsCA) {
            try TestChain(
                intermediate: { $0.put(.basicConstraints(isCA: true)) },
                leaf: { $0.put(.basicConstraints(isCA: true)) })
        },
        chain("a leaf that is a CA and may sign certificates", .leafIsCA) {
            try TestChain(leaf: {
                $0.put(.basicConstraints(isCA: true))
                $0.put(.keyUsage(0x84))
            })
        },
        chain("a leaf that may sign certificates", .leafIsCA) {
            try TestChain(leaf: {
                $0.remove("2.5.29.19")
                $0.put(.keyUsage(0x84))
            })
        },
        chain("a leaf that may not sign", .leafMayNotSign) { try TestChain(leaf: { $0.put(.keyUsage(0x20)) }) },
        chain("an intermediate that is no CA", .certificateNotCA, .intermediate) {
            try TestChain(intermediate: { $0.put(.basicConstraints(isCA: false)) })
        },
        chain("an intermediate without basic constraints", .certificateNotCA, .intermediate) {
            try TestChain(intermediate: { $0.remove("2.5.29.19") })
        },
        chain("an intermediate that may not sign certificates", .certificateNotCA, .intermediate) {
            try TestChain(intermediate: { $0.put(.keyUsage(0x80)) })
        },
        chain("a root that allows no intermediate", .pathLengthExceeded) {
            try TestChain(root: { $0.put(.basicConstraints(isCA: true, pathLength: 0)) })
        },
        chain("a root that is no CA", .certificateNotCA, .root) {
            try TestChain(root: { $0.put(.basicConstraints(isCA: false)) })
        },
        chain("a root that may not sign certificates", .certificateNotCA, .root) {
            try TestChain(root: { $0.put(.keyUsage(0x80)) })
        },
    ]

    private static let extensions: [Forgery] = [
        chain("critical name constraints of the intermediate", .certificateNameConstraints, .intermediate) {
            try TestChain(intermediate: { $0.put(.nameConstraints(isCritical: true)) })
        },
        chain("name constraints of the intermediate", .certificateNameConstraints, .intermediate) {
            try TestChain(intermediate: { $0.put(.nameConstraints(isCritical: false)) })
        },
        chain("name constraints of the leaf", .certificateNameConstraints, .leaf) {
            try TestChain(leaf: { $0.put(.nameConstraints(isCritical: false)) })
        },
        chain("name constraints of the root", .certificateNameConstraints, .root) {
            try TestChain(root: { $0.put(.nameConstraints(isCritical: true)) })
        },
        critical("a leaf", .leaf, "1.2.3.4") { added in try TestChain(leaf: { $0.put(added) }) },
        critical("an intermediate", .intermediate, "1.2.3.4") { added in
            try TestChain(intermediate: { $0.put(added) })
        },
        critical("a root", .root, "1.2.3.4") { added in try TestChain(root: { $0.put(added) }) },
        critical("a leaf", .leaf, "1.2.840.113635.100.6.11.2") { added in try TestChain(leaf: { $0.put(added) }) },
        chain("critical policy constraints of the intermediate", .certificateCriticalExtension, .intermediate) {
            let value = DER.sequence(DER.value(0x80, [0]))
            return try TestChain(intermediate: { $0.put(.init(oid: "2.5.29.36", isCritical: true, value: value)) })
        },
        chain("a critical key purpose of the leaf", .certificateCriticalExtension, .leaf) {
            let value = DER.sequence(DER.oid("1.3.6.1.5.5.7.3.1"))
            return try TestChain(leaf: { $0.put(.init(oid: "2.5.29.37", isCritical: true, value: value)) })
        },
    ]

    private static let algorithms: [Forgery] = [
        chain("a leaf signed with SHA-1 by ECDSA", .certificateWeakSignature, .leaf) {
            try TestChain(intermediateKey: .made(by: "EC", "ec_paramgen_curve:P-256"), leaf: { $0.digest = "sha1" })
        },
        chain("a leaf signed with SHA-1 by RSA", .certificateWeakSignature, .leaf) {
            try TestChain(intermediateKey: .made(by: "RSA", "rsa_keygen_bits:2048"), leaf: { $0.digest = "sha1" })
        },
        chain("a leaf signed with MD5 by RSA", .certificateWeakSignature, .leaf) {
            try TestChain(intermediateKey: .made(by: "RSA", "rsa_keygen_bits:2048"), leaf: { $0.digest = "md5" })
        },
        chain("an intermediate signed with SHA-1 by ECDSA", .certificateWeakSignature, .intermediate) {
            try TestChain(rootKey: .made(by: "EC", "ec_paramgen_curve:P-256"), intermediate: { $0.digest = "sha1" })
        },
        chain("an intermediate signed with SHA-1 by RSA", .certificateWeakSignature, .intermediate) {
            try TestChain(rootKey: .made(by: "RSA", "rsa_keygen_bits:2048"), intermediate: { $0.digest = "sha1" })
        },
        chain("a leaf with another algorithm inside", .certificateSignatureInvalid, .leaf) {
            try TestChain(leaf: { $0.innerAlgorithm = try? TestCertificate.algorithm("sha384", isRSA: false) })
        },
    ]

    private static func leafKey(
        _ name: String, _ code: VerificationFailure.Code, _ role: CertificateRole? = nil,
        _ make: @escaping @Sendable () throws -> TestKey
    ) -> Forgery {
        Forgery("a leaf key " + name, code, role) { _ in
            let chain = try TestChain(leafKey: make())
            // Only a P-256 key makes 64 bytes. The chain is refused before the signature is looked at.
            return Attempt(jws: try chain.jws(key: .p256()), roots: [chain.root])
        }
    }

    private static func critical(
        _ name: String, _ role: CertificateRole, _ oid: String,
        _ make: @escaping @Sendable (TestCertificate.Extension) throws -> TestChain
    ) -> Forgery {
        chain("\(name) with the unknown critical extension \(oid)", .certificateCriticalExtension, role) {
            try make(.marker(oid, isCritical: true))
        }
    }
}

extension TestCertificate {
    fileprivate mutating func replaceMarker(_ oid: String, by other: String) {
        remove(oid)
        put(.marker(other))
    }
}
