import Foundation
import OfferCrypto
import TestSupport
import Testing

/// A key in a TPM 2, by the module libtpm2_pkcs11 on a software TPM: a second vendor beside SoftHSM.
@Suite("Keys in a TPM", .serialized, .timeLimit(.minutes(5)))
struct TPMTests {
    private static let module = "/usr/lib/x86_64-linux-gnu/pkcs11/libtpm2_pkcs11.so"

    private static let script = MarkdownBlock.repository.appending(path: "scripts/software-tpm").path
    private let keys: TemporaryFolder
    private let folder: TemporaryFolder

    init() throws {
        (keys, folder) = (try RunningService.makeKeys(), try TemporaryFolder())
        let configuration = """
            keys:
              - id: \(RunningService.keyID)
                uri: pkcs11:token=offers;object=\(RunningService.keyID)
                module: \(Self.module)
                pinFile: \(folder.path)/pin

            """
        try folder.write(configuration.utf8, to: "config.yaml")
        try folder.write("12345678\n".utf8, to: "pin")
    }

    /// The arguments that run a shell script beside a TPM with the key. `$SIGNER` is the program, and `$OPTIONS` are its settings.
    private func arguments(_ script: String) -> [String] {
        let options = "--config '\(folder.path)/config.yaml' --keys-dir '\(folder.path)'"
        let prelude = "signer() { '\(Command.offerSigner)' \"$@\" \(options); }\ncd '\(folder.path)'\n"
        return [keys.path + "/" + RunningService.keyFile, RunningService.keyID, "bash", "-c", prelude + script]
    }

    @Test("a key in a TPM signs hundreds of offers, eight at a time, and two libraries accept every signature")
    func signing() async throws {
        let serve = """
            signer keys check && { signer serve --port 0 --key-id \(RunningService.keyID) & }
            # The function runs in a shell of its own, whose only child is the service.
            until pgrep -P $! >pid; do sleep 0.1; done
            wait $!
            """
        let program = try RunningProgram(Self.script, arguments(serve))
        let port = try program.port { $0.firstMatch(of: /127\.0\.0\.1:([0-9]+)/).flatMap { Int($0.output.1) } }
        let load = OfferLoad()
        load.expect(try SigningKey(text: keys.read(RunningService.keyFile)).verifyingKey, as: RunningService.keyID)
        try await load.run(port: port) {
            try await waitUntil { load.answers[RunningService.keyID, default: 0] >= 400 }
        }
        #expect(load.failures == [])
        kill(try #require(Int32(folder.lines("pid")[0])), SIGTERM)
        program.process.waitUntilExit()
        let log = try program.log
        #expect(program.process.terminationStatus == 0, "\(log)")
    }

    @Test("a TPM counts a wrong PIN once, whatever is run; after it was corrected, one command is enough")
    func wrongPIN() throws {
        let steps = """
            tries() { tpm2_getcap properties-variable | sed -n 's/^TPM2_PT_LOCKOUT_COUNTER: */tries /p'; }
            tries
            echo 99999999 >pin
            signer keys check; tries
            for command in "keys check" "keys check" "keys list" "doctor --key-id \(RunningService.keyID)" \
                "serve --port 0 --key-id \(RunningService.keyID)" "keys check --try-pin"; do
                signer $command
            done
            tries
            echo 12345678 >pin
            signer keys check || echo refused
            signer keys check --try-pin && signer keys check
            tries
            ls
            """
        let outcome = try Command.run(Self.script, arguments(steps))
        let lines = outcome.standardOutput.split(separator: "\n").map(String.init)
        #expect(lines.filter { $0.hasPrefix("tries ") } == ["tries 0x0", "tries 0x1", "tries 0x1", "tries 0x1"])
        #expect(lines.contains("refused"), "\(outcome)")
        #expect(lines.count { $0.contains("signs (token offers;") } == 2)
        #expect(!lines.contains("pin.refused"))
    }
}
