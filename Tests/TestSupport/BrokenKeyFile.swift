import Foundation
import OfferCrypto

/// An entry in the key folder that must not be loaded as a key.
package struct BrokenKeyFile: Sendable, CustomStringConvertible {
    /// The file's name.
    package let name: String
    /// A substring of the expected error message.
    package let reason: String
    private let make: @Sendable (TemporaryFolder, _ name: String) throws -> Void

    package var description: String { reason }

    package func place(in folder: TemporaryFolder) throws { try make(folder, name) }

    package static let all: [BrokenKeyFile] = [
        text("CORRUPTED1", "it is damaged") { pem in
            // Still valid base64, but no longer the DER of a key.
            var text = pem
            for index in 40..<44 { text[index] = UInt8(ascii: "A") }
            return text
        },
        text("EMPTYEMPTY", "is empty") { _ in [] },
        text("TRUNCATED1", "it is not PEM") { $0.dropLast(30) },
        text("TRUNCATED2", "is not PEM: there is no complete block") { _ in Array("-----BEGIN PRIVATE KEY-----\n".utf8)
        },
        openssl(
            "SECP256K11", "on the curve secp256k1, not on P-256",
            "genpkey -algorithm EC -pkeyopt ec_paramgen_curve:secp256k1"),
        openssl(
            "SECP384R11", "on the curve secp384r1, not on P-256",
            "genpkey -algorithm EC -pkeyopt ec_paramgen_curve:secp384r1"),
        openssl("RSARSARSA1", "a key for RSA", "genpkey -algorithm RSA -pkeyopt rsa_keygen_bits:2048"),
        openssl(
            "ENCRYPTED1", "it is encrypted",
            "genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -aes-256-cbc -pass pass:secret"),
        BrokenKeyFile(name: "SubscriptionKey_PUBLICKEY1.p8", reason: "it contains a PUBLIC KEY") { folder, name in
            let der = Data(try SigningKey(text: PrivateKeyPEM.generate()).verifyingKey.der)
            let base64 = der.base64EncodedString(options: [.lineLength64Characters, .endLineWithLineFeed])
            try folder.write("-----BEGIN PUBLIC KEY-----\n\(base64)\n-----END PUBLIC KEY-----\n".utf8, to: name)
        },
        text("MISMATCHED", "do not verify with its public half") { pem in
            // In PKCS #8 the public point is the last 65 bytes.
            let other = try der(of: PrivateKeyPEM.generate())
            let mixed = Data(try der(of: pem).dropLast(65) + other.suffix(65))
            let base64 = mixed.base64EncodedString(options: [.lineLength64Characters, .endLineWithLineFeed])
            return Array("-----BEGIN PRIVATE KEY-----\n\(base64)\n-----END PRIVATE KEY-----\n".utf8)
        },
        BrokenKeyFile(name: "SubscriptionKey_READABLE01.p8", reason: "can be read by others") { folder, name in
            try folder.write(PrivateKeyPEM.generate(), to: name, mode: 0o644)
        },
        BrokenKeyFile(name: "SubscriptionKey_READABLE02.p8", reason: "can be read by others") { folder, name in
            try folder.write(PrivateKeyPEM.generate(), to: name, mode: 0o640)
        },
        BrokenKeyFile(name: "SubscriptionKey_AFOLDER001.p8", reason: "is a folder") { folder, name in
            try FileManager.default.createDirectory(
                at: folder.url.appending(path: name), withIntermediateDirectories: false)
        },
        BrokenKeyFile(name: "SubscriptionKey_DANGLING01.p8", reason: "is a dangling link") { folder, name in
            try FileManager.default.createSymbolicLink(
                atPath: folder.path + "/" + name, withDestinationPath: "nothing")
        },
        BrokenKeyFile(name: "SubscriptionKey_LINKLOOP01.p8", reason: "cannot be read") { folder, name in
            try FileManager.default.createSymbolicLink(atPath: folder.path + "/" + name, withDestinationPath: name)
        },
        BrokenKeyFile(name: "SubscriptionKey_APIPEAPIPE.p8", reason: "is not a regular file") { folder, name in
            guard unsafe mkfifo(folder.path + "/" + name, 0o600) == 0 else { throw CocoaError(.fileWriteUnknown) }
        },
        text("TOOLARGE01", "is larger than 8192 bytes") { $0 + [UInt8](repeating: 0x20, count: 8192) },
        BrokenKeyFile(name: "SubscriptionKey_abcdefgh12.p8", reason: "has no valid key ID") { folder, name in
            try folder.write(PrivateKeyPEM.generate(), to: name)
        },
        BrokenKeyFile(name: "SubscriptionKey_SHORT.p8", reason: "has no valid key ID") { folder, name in
            try folder.write(PrivateKeyPEM.generate(), to: name)
        },
        BrokenKeyFile(name: "SubscriptionKey_ABCDEFGH12 (1).p8", reason: "has no valid key ID") { folder, name in
            try folder.write(PrivateKeyPEM.generate(), to: name)
        },
        BrokenKeyFile(name: "AuthKey_ABCDEFGH12.p8", reason: "is a key for another purpose") { folder, name in
            try folder.write(PrivateKeyPEM.generate(), to: name)
        },
        BrokenKeyFile(name: "ApiKey_ABCDEFGH12.p8", reason: "is a key for another purpose") { folder, name in
            try folder.write(PrivateKeyPEM.generate(), to: name)
        },
    ]

    /// A key file whose PEM text is altered by `change`.
    private static func text(
        _ id: String, _ reason: String, _ change: @escaping @Sendable ([UInt8]) throws -> [UInt8]
    ) -> BrokenKeyFile {
        BrokenKeyFile(name: "SubscriptionKey_\(id).p8", reason: reason) { folder, name in
            try folder.write(change(PrivateKeyPEM.generate()), to: name)
        }
    }

    /// A key file generated by the openssl command.
    private static func openssl(_ id: String, _ reason: String, _ arguments: String) -> BrokenKeyFile {
        BrokenKeyFile(name: "SubscriptionKey_\(id).p8", reason: reason) { folder, name in
            let made = try Command.run("openssl", arguments.split(separator: " ").map(String.init))
            guard made.status == 0 else { throw CocoaError(.fileWriteUnknown) }
            try folder.write(made.standardOutput.utf8, to: name)
        }
    }

    private static func der(of pem: [UInt8]) throws -> [UInt8] {
        let lines = String(decoding: pem, as: UTF8.self).split(separator: "\n").filter { !$0.hasPrefix("-----") }
        guard let der = Data(base64Encoded: lines.joined()) else { throw CocoaError(.coderInvalidValue) }
        return [UInt8](der)
    }
}
