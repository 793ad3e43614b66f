import Foundation
import OfferAudit
import OfferCrypto
import TestSupport
import Testing

/// The program on a machine with a wrong clock or a faulty libcrypto.
@Suite("A bad machine", .serialized, .timeLimit(.minutes(5)))
struct BadMachineTests {
    private let folder: TemporaryFolder
    private let library: String

    init() throws {
        folder = try TemporaryFolder()
        library = folder.path + "/bad.so"
        let source = MarkdownBlock.repository.appending(path: "Tests/CommandTests/BadMachine.c.txt")
        let compiled = try Command.run("clang", ["-shared", "-fPIC", "-x", "c", "-o", library, source.path])
        try #require(compiled.status == 0, "\(compiled.standardError)")
        try folder.write(PrivateKeyPEM.generate(), to: "SubscriptionKey_2X9R4HXF34.p8")
    }

    private func run(_ command: String, _ settings: [String: String] = [:], input: String = "") throws
        -> Command.Outcome
    {
        try Command.run(
            Command.offerSigner,
            [command, "--keys-dir", folder.path, "--key-id", "2X9R4HXF34"]
                + (command == "sign" ? [] : ["--port", "0"]),
            input: Array(input.utf8), environment: ["LD_PRELOAD": library].merging(settings) { $1 })
    }

    private static let sample = #"{"appBundleID":"a","productIdentifier":"p","offerID":"o","applicationUsername":""}"#

    @Test(
        "if libcrypto accepts every signature, nothing is served or signed, and each command says why",
        arguments: ["serve", "sign", "doctor"])
    func gullible(command: String) throws {
        let outcome = try run(command, ["GULLIBLE": "1"], input: Self.sample)
        #expect(outcome.status == 1)
        #expect(outcome.standardError.contains("a signature with one flipped bit is accepted"))
        #expect(outcome.standardError.contains("hint: start the service on another machine"))
        #expect(outcome.standardError.contains("libcrypto 3."))
        #expect(!outcome.standardOutput.contains("signature\":"))
        #expect(!outcome.standardOutput.contains("the cryptography passes"))
    }

    @Test("with a clock before the build date, the service starts but signs nothing until the clock is right")
    func clock() async throws {
        let behind = folder.path + "/behind"
        try folder.write([], to: "behind")
        let service = try RunningService(environment: ["LD_PRELOAD": library, "BEHIND": behind])
        func ask(_ path: String) async throws -> (status: Int?, text: String) {
            let answer = try await Connection.open(port: service.port) {
                path == "/offer" ? try await $0.post(path, json: BadRequest.goodBody) : try await $0.get(path)
            }
            return (answer?.status, String(decoding: answer?.body ?? [], as: UTF8.self))
        }
        for path in ["/offer", "/health/ready"] {
            let answer = try await ask(path)
            #expect(answer.status == 503 && answer.text.contains(#""code":"clock_wrong""#), "\(answer.text)")
        }
        #expect(try await ask("/health/ready").text.contains(#""clock":"failed""#))
        #expect(try await ask("/health/live").status == 200)
        try await waitUntil { try service.log.contains("before this version was built") }

        try folder.remove("behind")
        #expect(try await ask("/offer").status == 200)
        try await waitUntil { try service.log.contains("the clock was set from") }
        let ready = try await ask("/health/ready")
        #expect(ready.status == 200)
        #expect(ready.text.hasPrefix(#"{"status":"degraded","checks":{"keys":"ok","selfTest":"ok","#))
        #expect(ready.text.contains(#""clock":"degraded""#))
        #expect(service.stop() == 0)
    }

    @Test("with a clock before the build date, the sign command signs nothing, and doctor says why")
    func clockOfCommands() throws {
        try folder.write([], to: "behind")
        let settings = ["BEHIND": folder.path + "/behind"]
        let signed = try run("sign", settings, input: Self.sample)
        #expect(signed.status == 1 && signed.standardOutput == "")
        #expect(signed.standardError.contains("the service's clock shows a time before the service was built"))
        let doctor = try run("doctor", settings)
        #expect(doctor.status == 1)
        #expect(doctor.standardError.contains("which is before this version was built"))
        #expect(doctor.standardOutput.contains("ok: the cryptography passes its known-answer tests\n"))
        try folder.remove("behind")
        #expect(try run("sign", settings, input: Self.sample).status == 0)
    }
}
