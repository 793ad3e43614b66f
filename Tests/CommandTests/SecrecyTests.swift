import Foundation
import OfferCrypto
import TestSupport
import Testing

/// Searches everything the service writes for parts of its keys.
@Suite("Secrets stay secret", .timeLimit(.minutes(5)))
struct SecrecyTests {
    /// Parts of a key's base64 that occur in no other key. The beginning of the text is the same for all keys.
    private static func marks(of pem: [UInt8]) -> [String] {
        let base64 = String(decoding: pem, as: UTF8.self).split(separator: "\n").dropFirst().dropLast().joined()
        // In PKCS #8 the private half is bytes 36 to 67: characters 48 to 90 of the base64.
        let secret = Array(base64.dropFirst(48).prefix(42))
        return stride(from: 0, to: 30, by: 6).map { String(secret[$0..<$0 + 12]) }
    }

    @Test("no log line or response contains a key, even at the most verbose level and after invalid reloads")
    func logs() async throws {
        let (inText, inFile, broken) = try (
            PrivateKeyPEM.generate(), PrivateKeyPEM.generate(), PrivateKeyPEM.generate()
        )
        let text = String(decoding: inText, as: UTF8.self).replacing("\n", with: "\\n")
        let service = try RunningService(
            arguments: ["--log-level", "trace", "--key-id", "TEXTKEY123"],
            environment: ["SUBSCRIPTION_OFFERS_PRIVATE_KEY": text])
        try service.keys.write(inFile, to: "SubscriptionKey_INTHEFILE1.p8")
        try service.keys.write(broken.dropLast(40), to: "SubscriptionKey_BROKENKEY1.p8")
        for settings in [
            "SUBSCRIPTION_OFFERS_PRIVATE_KEY='\(String(decoding: broken.dropLast(40), as: UTF8.self))'",
            "SUBSCRIPTION_OFFERS_PRIVATE_KEY=\(String(decoding: broken, as: UTF8.self))",
            "SUBSCRIPTION_OFFERS_BUNDLE_KEY_IDS=a=INTHEFILE1", "SUBSCRIPTION_OFFERS_PRIVATE_KEY=\"\(text)\"",
        ] {
            try service.reload(keyID: nil, settings)
            try await Task.sleep(for: .seconds(1))
        }
        try await Task.sleep(for: .seconds(3))
        var answers = ""
        for app in ["a", "b"] {
            let answer = try await service.post(
                "/offer", #"{"appBundleID":"\#(app)","productIdentifier":"p","offerID":"o","applicationUsername":""}"#)
            #expect(answer.status == 200)
            answers += answer.text
        }
        answers += try await service.health
        #expect(answers.contains("BROKENKEY1"), "the service has found the broken key")
        #expect(try Self.children(of: service.processIdentifier) == [], "no child process inherits the environment")
        #expect(service.stop() == 0)
        let log = try service.log
        #expect(log.contains("INTHEFILE1") && log.contains("environment file") || log.contains("line "))
        for mark in [inText, inFile, broken].flatMap(Self.marks) {
            #expect(!log.contains(mark))
            #expect(!answers.contains(mark))
        }
    }

    private static func children(of parent: Int32) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: "/proc").filter { process in
            guard Int(process) != nil,
                let status = try? String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)
            else { return false }
            return status.contains("\nPPid:\t\(parent)\n")
        }
    }

    @Test("a crashed service leaves no core file, even where another program does")
    func noCoreFile() throws {
        let folder = try TemporaryFolder()
        // Core files appear in the working folder only on some systems. The other program shows whether this is one.
        let script = """
            ulimit -c unlimited
            mkdir ours other keys
            (cd other && exec sleep 60) & other=$!
            (cd ours && exec \(Command.offerSigner) serve --development --port 0 --keys-dir ../keys >../out 2>../log) & ours=$!
            until grep -q http out; do sleep 0.05; done
            for process in $other $ours; do kill -SEGV $process; wait $process || echo $?; done 2>/dev/null
            ls other ours
            cat log
            """
        let outcome = try Command.run("bash", ["-c", script], directory: folder.url)
        let lines = outcome.standardOutput.split(separator: "\n").map(String.init)
        let left = lines.split(separator: "ours:", maxSplits: 1).map(Array.init)
        #expect(lines.prefix(2) == ["139", "139"], "the signal killed both processes")
        #expect(left.last?.contains { $0.hasPrefix("core") } == false)
        #expect(left.last?.contains { $0.contains("keys in force") } == true)
        #expect(left.last?.contains { $0.contains("crashed") || $0.contains("Registers") } == false, "no crash report")
        if try String(contentsOfFile: "/proc/sys/kernel/core_pattern", encoding: .utf8).hasPrefix("core") {
            #expect(left.first?.contains { $0.hasPrefix("core") } == true)
        }
    }
}
