import AppStoreData
import OfferCrypto

@testable import AppStoreTestSupport

extension ReceiptForgery {
    /// Certificates that are not like Apple's.
    static let certificates: [ReceiptForgery] = [
        .chain("a leaf without its marker", .certificateMarkerMissing, .leaf) {
            try ReceiptSigner(leaf: { $0.remove(AppleMarker.receiptSigner) })
        },
        .chain("a leaf with the intermediate's marker", .certificateMarkerMissing, .leaf) {
            try ReceiptSigner(leaf: {
                $0.remove(AppleMarker.receiptSigner)
                $0.put(.marker(AppleMarker.developerRelations))
            })
        },
        .chain("an intermediate without its marker", .certificateMarkerMissing, .intermediate) {
            try ReceiptSigner(intermediate: { $0.remove(AppleMarker.developerRelations) })
        },
        .chain("a leaf expired at the creation date", .certificateExpired, .leaf) {
            try ReceiptSigner(leaf: { $0.notAfter = TestTime.now - 1 })
        },
        .chain("an intermediate expired at the creation date", .certificateExpired, .intermediate) {
            try ReceiptSigner(intermediate: { $0.notAfter = TestTime.now - 1 })
        },
        .chain("a root expired at the creation date", .certificateExpired, .root) {
            try ReceiptSigner(root: { $0.notAfter = TestTime.now - 1 })
        },
        .chain("a leaf not yet valid at the creation date", .certificateNotYetValid, .leaf) {
            try ReceiptSigner(leaf: { $0.notBefore = TestTime.now + 1 })
        },
        .chain("an intermediate not yet valid at the creation date", .certificateNotYetValid, .intermediate) {
            try ReceiptSigner(intermediate: { $0.notBefore = TestTime.now + 1 })
        },
        .chain("a root not yet valid at the creation date", .certificateNotYetValid, .root) {
            try ReceiptSigner(root: { $0.notBefore = TestTime.now + 1 })
        },
        .chain("a leaf that is a CA", .leafIsCA) {
            try ReceiptSigner(leaf: { $0.put(.basicConstraints(isCA: true)) })
        },
        .chain("a leaf that may not sign", .leafMayNotSign) { try ReceiptSigner(leaf: { $0.put(.keyUsage(0x20)) }) },
        .chain("an intermediate that is no CA", .certificateNotCA, .intermediate) {
            try ReceiptSigner(intermediate: { $0.put(.basicConstraints(isCA: false)) })
        },
        .chain("an intermediate that may not sign certificates", .certificateNotCA, .intermediate) {
            try ReceiptSigner(intermediate: { $0.put(.keyUsage(0x80)) })
        },
        .chain("an intermediate with name constraints", .certificateNameConstraints, .intermediate) {
            try ReceiptSigner(intermediate: { $0.put(.nameConstraints(isCritical: true)) })
        },
        .chain("a leaf with an unknown critical extension", .certificateCriticalExtension, .leaf) {
            try ReceiptSigner(leaf: { $0.put(.marker("1.2.3.4", isCritical: true)) })
        },
        .chain("a leaf signed with MD5", .certificateWeakSignature, .leaf) {
            try ReceiptSigner(leaf: { $0.digest = "md5" })
        },
    ]

    /// Certificates that do not belong together.
    static let links: [ReceiptForgery] = [
        .message("no intermediate", .intermediateMissing) { message, signer in
            message.certificates = [signer.chain.leaf, signer.chain.root]
        },
        .message("the leaf alone", .intermediateMissing) { message, signer in message.certificates = [signer.chain.leaf]
        },
        .message("another intermediate", .intermediateMissing) { message, signer in
            let other = try ReceiptSigner(intermediate: { $0.subject = "Other CA" })
            message.certificates = [signer.chain.leaf, other.chain.intermediate]
        },
        .chain("a leaf that the intermediate's name but not its key has signed", .certificateSignatureInvalid, .leaf) {
            var signer = try ReceiptSigner()
            var leaf = TestChain.leaf(signer.chain.leafKey)
            leaf.subject = "Test Receipt Signing 2"
            var chain = signer.chain
            chain.leaf = try leaf.signed(by: signer.chain.leafKey)
            signer = ReceiptSigner(chain: chain)
            return signer
        },
        .chain(
            "an intermediate that the root's name but not its key has signed", .certificateSignatureInvalid,
            .intermediate
        ) {
            let signer = try ReceiptSigner()
            var chain = signer.chain
            chain.intermediate = try TestChain.intermediate(chain.intermediateKey).signed(by: chain.leafKey)
            return ReceiptSigner(chain: chain)
        },
        ReceiptForgery(
            "the intermediate as signer", .notVerified(VerificationFailure(.certificateMarkerMissing, .leaf))
        ) {
            signer in
            var message = try signer.message(TestReceipt())
            message.signers[0].identifier = ReceiptSigner.identifier(issuer: "Test Root CA", 7)
            let other = try ReceiptSigner(intermediate: { $0.serialNumber = 7 })
            message.certificates[1] = other.chain.intermediate
            message.signers[0].signature = try signer.chain.intermediateKey.sign(message.content)
            return Attempt(receipt: message.encoded)
        },
        ReceiptForgery("a root that is not trusted", .notVerified(VerificationFailure(.rootNotTrusted))) { _ in
            let other = try ReceiptSigner(
                root: { $0.subject = "Foreign CA" }, intermediate: { $0.issuer = "Foreign CA" })
            return Attempt(receipt: try other.message(TestReceipt()).encoded)
        },
        ReceiptForgery(
            "a foreign root with the name of the trusted one",
            .notVerified(VerificationFailure(.certificateSignatureInvalid, .intermediate))
        ) { _ in
            let keys = try ReceiptSigner.keys.get()
            let foreign = try TestChain(rootKey: keys[1], intermediateKey: keys[1], leafKey: keys[2])
            return Attempt(receipt: try ReceiptSigner(chain: foreign).message(TestReceipt()).encoded)
        },
        ReceiptForgery("no trusted roots", .notVerified(VerificationFailure(.rootNotTrusted))) { signer in
            Attempt(receipt: try signer.message(TestReceipt()).encoded, roots: [])
        },
        ReceiptForgery("Apple's roots only", .notVerified(VerificationFailure(.rootNotTrusted))) { signer in
            Attempt(
                receipt: try signer.message(TestReceipt()).encoded, roots: AppleRoots.certificates.map(\.der))
        },
        ReceiptForgery(
            "a leaf below a leaf", .notVerified(VerificationFailure(.certificateMarkerMissing, .intermediate))
        ) { signer in
            // A developer's certificate under the same intermediate issues a leaf with the right marker.
            var developer = TestChain.leaf(signer.chain.rootKey)
            developer.subject = "Developer"
            var leaf = TestChain.leaf(signer.chain.leafKey)
            leaf.issuer = "Developer"
            var message = try signer.message(TestReceipt())
            message.signers[0].identifier = ReceiptSigner.identifier(issuer: "Developer", 1)
            message.certificates = [
                try leaf.signed(by: signer.chain.rootKey), try developer.signed(by: signer.chain.intermediateKey),
                signer.chain.intermediate,
            ]
            return Attempt(receipt: message.encoded)
        },
        ReceiptForgery(
            "a certificate that issued itself",
            .notVerified(VerificationFailure(.certificateMarkerMissing, .intermediate))
        ) { signer in
            var leaf = TestChain.leaf(signer.chain.leafKey)
            leaf.issuer = leaf.subject
            var message = try signer.message(TestReceipt())
            message.signers[0].identifier = ReceiptSigner.identifier(issuer: leaf.subject, 1)
            message.certificates = [try leaf.signed(by: signer.chain.leafKey)]
            return Attempt(receipt: message.encoded)
        },
    ]

    /// Receipts that are genuine but not acceptable.
    static let refusals: [ReceiptForgery] = [
        .refused("a receipt of an unknown type", .unknownType) { $0.put(.text(0, "Production2")) },
        .refused("a type in other letters", .unknownType) { $0.put(.text(0, "production")) },
        .refused("Xcode's type outside development", .xcodeNeedsDevelopment) { $0.put(.text(0, "Xcode")) },
        .refused("an expired receipt", .expired) { $0.put(.date(21, "2025-06-15T15:06:40Z")) },
        .refused("a receipt without an opaque value for a device", .deviceHashMissing) { $0.remove(4) },
        .refused("a receipt without a hash for a device", .deviceHashMissing) { $0.remove(5) },
        .refused("a receipt of another app for a device", .anotherDevice) { $0.put(.text(2, "com.example.other")) },
        .refused("a receipt with another opaque value for a device", .anotherDevice) {
            $0.put(.init(type: 4, version: 2, value: TestReceipt.opaqueValue.reversed()))
        },
        .xcode("Xcode's certificate outside development", .refused(.xcodeNeedsDevelopment), isDevelopment: false),
        .xcode(
            "Xcode's certificate, if it is not a root",
            .notVerified(VerificationFailure(.certificateMarkerMissing, .leaf)),
            isTrusted: false),
        .xcode("a receipt of production that Xcode signed", .refused(.notFromAppStore)) {
            $0.put(.text(0, "Production"))
        },
        .xcode("a receipt of the sandbox that Xcode signed", .refused(.notFromAppStore)) {
            $0.put(.text(0, "ProductionSandbox"))
        },
        .xcode(
            "a receipt of Xcode from before its certificate",
            .notVerified(VerificationFailure(.certificateNotYetValid, .root))
        ) { $0.put(.date(12, "2023-11-14T22:13:19Z")) },
        .xcode(
            "a receipt of Xcode from after its certificate",
            .notVerified(VerificationFailure(.certificateExpired, .root))
        ) { $0.put(.date(12, "2027-01-15T08:00:01Z")) },
    ]

    private static func refused(
        _ name: String, _ refusal: ReceiptRefusal, _ change: @escaping @Sendable (_ receipt: inout TestReceipt) -> Void
    ) -> ReceiptForgery {
        ReceiptForgery(name, .refused(refusal)) { signer in
            var receipt = TestReceipt()
            change(&receipt)
            return Attempt(
                receipt: try signer.message(receipt).encoded, device: DeviceIdentifier(TestReceipt.device))
        }
    }

    private static func xcode(
        _ name: String, _ failure: ReceiptFailure, isDevelopment: Bool = true, isTrusted: Bool = true,
        _ change: @escaping @Sendable (_ receipt: inout TestReceipt) -> Void = { _ in }
    ) -> ReceiptForgery {
        ReceiptForgery(name, failure) { signer in
            let xcode = try ReceiptSigner.xcode.get()
            var receipt = TestReceipt.xcode()
            change(&receipt)
            return Attempt(
                receipt: try xcode.message(receipt).encoded,
                roots: [signer.chain.root] + (isTrusted ? [xcode.certificate] : []), isDevelopment: isDevelopment)
        }
    }
}
