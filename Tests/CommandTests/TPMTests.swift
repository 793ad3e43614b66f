import Foundation
import OfferCrypto
import TestSupport
import Testing

/// A key in a TPM 2, by the module libtpm2_pkcs11 on a software TPM: a second vendor beside SoftHSM.
@Suite("Keys in a TPM", .serialized, .timeLimit(.minutes(5)))
struct TPMTests {
    private static let module = "/usr/lib/x86_64-linux-gnu/pkcs11/libtpm2_pkcs11.so"

    @Test("a key in a TPM is checked and signs, and the public half of its file accepts the signature")
    func signing() throws {
        let (keys, folder) = (try RunningService.makeKeys(), try TemporaryFolder())
        let keyID = RunningService.keyID
        let configuration = """
            keys:
              - id: \(keyID)
                uri: pkcs11:token=offers;object=\(keyID)
                module: \(Self.module)
                pinFile: \(folder.path)/pin

            """
        try folder.write(configuration.utf8, to: "config.yaml")
        try folder.write("12345678\n".utf8, to: "pin")
        let script = MarkdownBlock.repository.appending(path: "scripts/software-tpm").path
        let options = ["--config", folder.path + "/config.yaml", "--keys-dir", folder.path]
        let fields = #"{"appBundleID":"a","productIdentifier":"p","offerID":"o","applicationUsername":"u"}"#
        let signed = try Command.run(
            script,
            [keys.path + "/" + RunningService.keyFile, keyID, Command.offerSigner, "sign", "--key-id", keyID] + options,
            input: Array(fields.utf8))
        #expect(signed.status == 0, "\(signed.standardError)")
        let json = try #require(
            JSONSerialization.jsonObject(with: Data(signed.standardOutput.utf8)) as? [String: Any])
        let signature = try #require((json["signature"] as? String).flatMap { Data(base64Encoded: $0) })
        let payload = [
            "a", keyID, "p", "o", "u", json["nonce"] as? String ?? "", "\(json["timestamp"] as? Int64 ?? 0)",
        ].joined(separator: "\u{2063}")
        let key = try SigningKey(text: keys.read(RunningService.keyFile)).verifyingKey
        #expect(try key.verify([UInt8](signature), of: Array(payload.utf8)))
    }
}
