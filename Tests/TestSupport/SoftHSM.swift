import Foundation

/// A token of SoftHSM in a folder of its own, with the label `offers`.
package final class SoftHSM: Sendable {
    package static let module = "/usr/lib/softhsm/libsofthsm2.so"
    package static let pin = "12345678"

    private let folder: TemporaryFolder

    /// The folder of the token.
    private let ownFolder: String

    package init() throws {
        let folder = try TemporaryFolder()
        self.folder = folder
        try FileManager.default.createDirectory(
            at: folder.url.appending(path: "tokens"), withIntermediateDirectories: false)
        try folder.write(
            "directories.tokendir = \(folder.path)/tokens\nobjectstore.backend = file\nlog.level = ERROR\n".utf8,
            to: "softhsm2.conf")
        try folder.write("\(Self.pin)\n".utf8, to: "pin")
        try Self.addToken("offers", in: folder)
        ownFolder = try FileManager.default.contentsOfDirectory(atPath: folder.path + "/tokens")[0]
    }

    private static func addToken(_ label: String, in folder: TemporaryFolder) throws {
        try expectSuccess(
            Command.run(
                "softhsm2-util",
                ["--init-token", "--free", "--label", label, "--so-pin", "87654321", "--pin", pin],
                environment: ["SOFTHSM2_CONF": folder.path + "/softhsm2.conf"]))
    }

    /// Adds a token with the same PIN.
    package func addToken(_ label: String) throws { try Self.addToken(label, in: folder) }

    package struct Failed: Error {
        package let text: String
    }

    private static func expectSuccess(_ outcome: Command.Outcome) throws {
        guard outcome.status == 0 else { throw Failed(text: outcome.standardError + outcome.standardOutput) }
    }

    /// The variable by which SoftHSM finds the token.
    package var environment: [String: String] { ["SOFTHSM2_CONF": folder.path + "/softhsm2.conf"] }

    package var pinFile: String { folder.path + "/pin" }

    package func write(pin: String) throws { try folder.write("\(pin)\n".utf8, to: "pin") }

    /// Puts a key file into the token with `offer-signer keys import`.
    package func importKey(
        _ file: String, as keyID: String? = nil, to label: String = "offers"
    ) throws -> Command.Outcome {
        try Command.runOfferSigner(
            [
                "keys", "import", file, "--token", "pkcs11:token=\(label)", "--module", Self.module, "--pin-file",
                pinFile,
            ]
                + (keyID.map { ["--key-id", $0] } ?? []), environment: environment)
    }

    /// Makes a key pair in the token, as another program would.
    package func makeKeyPair(_ arguments: [String]) throws {
        try Self.expectSuccess(
            Command.run(
                "pkcs11-tool",
                ["--module", Self.module, "--login", "--pin", Self.pin, "--token-label", "offers", "--keypairgen"]
                    + arguments, environment: environment))
    }

    /// Destroys a key; both halves unless told otherwise.
    package func destroy(_ keyID: String, _ kinds: [String] = ["privkey", "pubkey"]) throws {
        for kind in kinds {
            try Self.expectSuccess(
                Command.run(
                    "pkcs11-tool",
                    [
                        "--module", Self.module, "--login", "--pin", Self.pin, "--token-label", "offers",
                        "--delete-object",
                    ]
                        + ["--type", kind, "--label", keyID], environment: environment))
        }
    }

    /// Takes the token away, or puts it back.
    package func setPresent(_ isPresent: Bool) throws {
        let places = ["tokens/" + ownFolder, "removed"].map { folder.url.appending(path: $0) }
        try FileManager.default.moveItem(at: places[isPresent ? 1 : 0], to: places[isPresent ? 0 : 1])
    }

    /// The `keys` of a configuration file.
    package func configuration(
        _ keyIDs: String..., of label: String = "offers", module: String = SoftHSM.module, sessions: Int = 4
    ) -> String {
        "keys:\n"
            + keyIDs.map { keyID in
                """
                  - id: \(keyID)
                    uri: pkcs11:token=\(label);object=\(keyID)
                    module: \(module)
                    pinFile: \(pinFile)
                    sessions: \(sessions)

                """
            }.joined()
    }
}

/// `p11-kit server`, which runs the module of a token in processes of its own.
package final class P11KitServer: Sendable {
    package static let module = "/usr/lib/x86_64-linux-gnu/pkcs11/p11-kit-client.so"

    private let folder: TemporaryFolder
    private let program: RunningProgram

    /// - Parameter socket: the path of an earlier server's socket; nil for a new one.
    package init(
        _ token: SoftHSM, module: String = SoftHSM.module, socket: String? = nil, environment: [String: String] = [:]
    ) throws {
        folder = try TemporaryFolder()
        self.socket = socket ?? folder.path + "/socket"
        try? FileManager.default.removeItem(atPath: self.socket)
        program = try RunningProgram(
            "p11-kit", ["server", "-f", "-n", self.socket, "--provider", module, "pkcs11:token=offers"],
            environment: token.environment.merging(environment) { $1 })
        while try !program.output.contains("P11_KIT_SERVER_PID") {
            guard program.process.isRunning else { throw SoftHSM.Failed(text: try program.log) }
            Thread.sleep(forTimeInterval: 0.02)
        }
    }

    deinit { kill() }

    package let socket: String

    /// The variable by which the module finds the server.
    package var environment: [String: String] { ["P11_KIT_SERVER_ADDRESS": "unix:path=\(socket)"] }

    /// Ends the server and the processes of its connections at once.
    package func kill() {
        guard program.process.isRunning else { return }
        let server = program.process.processIdentifier
        let list = try? String(contentsOfFile: "/proc/\(server)/task/\(server)/children", encoding: .utf8)
        let children = (list ?? "").split(separator: " ").compactMap { Int32($0.filter(\.isNumber)) }
        for process in [server] + children { _ = Foundation.kill(process, SIGKILL) }
        program.process.waitUntilExit()
    }
}
