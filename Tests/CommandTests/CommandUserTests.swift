import Foundation
import TestSupport
import Testing

@Suite("The person who runs a command")
struct CommandUserTests {
    /// Runs a command that records its person, and returns the person.
    private func person(of arguments: [String] = [], in folder: TemporaryFolder) throws -> String {
        let command =
            arguments + [
                Command.offerSigner, "console", "sign-in", "--name", "Ada", "--role", "support", "--console-url",
                "http://127.0.0.1:8082",
            ]
        let configuration = "apps: [{bundleID: com.example.app, appAppleID: 1234567890, products: []}]"
        try folder.write(configuration.utf8, to: "offers.yaml", mode: 0o644)
        // There is no database, but the line is written before it is opened.
        let outcome = try Command.run(
            command[0], Array(command.dropFirst()),
            environment: [
                "SUDO_USER": "mallory", "SUBSCRIPTION_OFFERS_CONFIG": folder.path + "/offers.yaml",
                "SUBSCRIPTION_OFFERS_DATABASE": "sqlite:\(folder.path)/subscribers.sqlite",
                "SUBSCRIPTION_OFFERS_CONSOLE_ADDRESS": "127.0.0.1:8082",
                "SUBSCRIPTION_OFFERS_AUDIT_LOG": folder.path + "/audit.jsonl",
            ], directory: folder.url)
        #expect(outcome.standardError.contains("there is no database"), "\(outcome.standardError)")
        let line = try #require(
            folder.text("audit.jsonl").split(separator: "\n").first { $0.contains("console_link") })
        let members = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
        return try #require(members?["person"] as? String)
    }

    @Test("a user other than root cannot pass for another one with SUDO_USER")
    func forged() throws {
        let folder = try TemporaryFolder()
        guard getuid() == 0 else {
            #expect(try person(in: folder) != "mallory")
            return
        }
        try FileManager.default.setAttributes([.ownerAccountID: 65534], ofItemAtPath: folder.path)
        #expect(try person(of: ["setpriv", "--reuid", "65534", "--clear-groups", "--"], in: folder) != "mallory")
    }

    @Test(
        "a command that root runs with sudo is that of the user who called sudo",
        .enabled(
            if: getuid() == 0 && (try? String(contentsOfFile: "/proc/self/loginuid", encoding: .utf8)) == "4294967295"))
    func sudo() throws {
        #expect(try person(in: TemporaryFolder()) == "mallory")
    }
}
