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
        try Command.compile("BadMachine", to: library)
        try folder.write(PrivateKeyPEM.generate(), to: "SubscriptionKey_2X9R4HXF34.p8")
    }

    private func run(_ command: String, _ settings: [String: String] = [:], input: String = "") throws
        -> Command.Outcome
    {
        try Command.runOfferSigner(
            [command, "--keys-dir", folder.path, "--key-id", "2X9R4HXF34"]
                + (command == "sign" ? [] : ["--port", "0"]), input: input,
            environment: ["LD_PRELOAD": library].merging(settings) { $1 })
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
        for answer in [
            try await service.post("/offer", BadRequest.goodBody), try await service.get("/health/ready"),
        ] {
            #expect(answer.status == 503 && answer.text.contains(#""code":"clock_wrong""#), "\(answer.text)")
        }
        #expect(try await service.get("/health/ready").text.contains(#""clock":"failed""#))
        #expect(try await service.get("/health/live").status == 200)
        try await waitUntil { try service.log.contains("before this version was built") }

        try folder.remove("behind")
        #expect(try await service.post("/offer", BadRequest.goodBody).status == 200)
        try await waitUntil { try service.log.contains("the clock was set from") }
        let ready = try await service.get("/health/ready")
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
