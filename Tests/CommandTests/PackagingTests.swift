import Foundation
import OfferAudit
import OfferConfiguration
import OfferCore
import OfferCrypto
import OfferService
import SubscriberStore
import TestSupport
import Testing
import Yams

/// Checks that packaging/ matches the program. `scripts/package-test` installs and runs the package.
@Suite("packaging", .serialized, .timeLimit(.minutes(5)))
struct PackagingTests {
    private static let repository = MarkdownBlock.repository
    private static let keyID = "2X9R4HXF34"

    private static func text(_ path: String) throws -> String {
        try String(contentsOf: repository.appending(path: path), encoding: .utf8)
    }

    private static func files(in folder: String) throws -> [String] {
        let all = FileManager.default.enumerator(atPath: repository.appending(path: folder).path)
        let names = (all?.allObjects as? [String]) ?? []
        return names.map { "\(folder)/\($0)" }.filter { (try? text($0)) != nil }
    }

    private static func variables(in text: String) -> Set<String> {
        Set(text.matches(of: /SUBSCRIPTION_OFFERS_[A-Z_]*[A-Z]/).map { String($0.output) })
    }

    /// The options of each command as typed, keyed by command name, such as `keys list`.
    private static func commands() throws -> [String: Set<String>] {
        let help = try Command.runOfferSigner(["--experimental-dump-help"]).standardOutput
        let root = try JSONDecoder().decode(Help.self, from: Data(help.utf8)).command
        var found: [String: Set<String>] = [:]
        func visit(_ command: Help.Command, _ path: [String]) {
            let names = (command.arguments ?? []).flatMap { $0.names ?? [] }
            found[path.joined(separator: " ")] = Set(names.map { ($0.kind == "long" ? "--" : "-") + $0.name })
            for sub in command.subcommands ?? [] where sub.commandName != "help" {
                visit(sub, path + [sub.commandName])
            }
        }
        visit(root, [])
        return found
    }

    private struct Help: Decodable {
        let command: Command

        struct Command: Decodable {
            let commandName: String
            let arguments: [Argument]?
            let subcommands: [Command]?
        }

        struct Argument: Decodable {
            let names: [Name]?
        }

        struct Name: Decodable {
            let kind: String
            let name: String
        }
    }

    @Test("--version prints the version")
    func version() throws {
        let outcome = try Command.runOfferSigner(["--version"])
        #expect(outcome.status == 0)
        #expect(outcome.standardOutput == OfferSignerVersion.text + "\n")
        #expect(OfferSignerVersion.text.wholeMatch(of: /[0-9]+\.[0-9]+\.[0-9]+/) != nil)
    }

    @Test("the man page lists every command, and exactly the existing options and variables")
    func manPage() throws {
        let template = MarkdownBlock.repository.appending(path: "packaging/debian/offer-signer.1").path
        let page = try Command.run("sh", ["-c", "\(Command.offerSigner) reference manual <\(template)"]).standardOutput
        let items = page.split(separator: "\n").filter { $0.hasPrefix(".It Fl ") || $0.hasPrefix(".It Ev ") }
        let options = items.flatMap { $0.matches(of: /(?:Fl|,) (-?[a-z][a-z-]*)/).map { "-" + $0.output.1 } }
        let known = try Self.commands().values.reduce(into: Set<String>()) { $0.formUnion($1) }
        #expect(Set(options) == known.union(["--version"]))
        #expect(Self.variables(in: page) == Set(Settings.all.map(\.variable)))
        let groups: Set = [
            "", "alarms", "console", "keys", "tokens", "audit", "app-store", "customers", "rules", "database",
            "retention", "retention messages", "retention images", "retention defaults", "retention url",
            "retention performance-test", "reference", "catalogue", "grants", "links",
        ]
        for command in try Self.commands().keys where !groups.contains(command) {
            #expect(page.contains(".It Cm \(command)\n"), "\(command)")
        }
    }

    @Test("packaging files name only existing variables")
    func variables() throws {
        let files = try Self.files(in: "packaging")
        #expect(files.contains("packaging/kubernetes/offer-signer.yaml"))
        let known = Set(Settings.all.map(\.variable))
        for file in files { #expect(Self.variables(in: try Self.text(file)).subtracting(known) == [], "\(file)") }
    }

    @Test(
        "the systemd units are well formed and start an existing command",
        arguments: ["offer-signer.service", "credentials.conf"])
    func unit(name: String) throws {
        let commands = try Self.commands()
        var starts = 0
        for line in try Self.text("packaging/debian/\(name)").split(separator: "\n") where !line.hasPrefix("#") {
            let pair = line.wholeMatch(of: /([A-Za-z]+)=(.*)/)
            #expect(pair != nil || line.wholeMatch(of: /\[(Unit|Service|Install)\]/) != nil, "\(line)")
            guard let pair, pair.output.1 == "ExecStart", !pair.output.2.isEmpty else { continue }
            starts += 1
            let words = pair.output.2.split(separator: " ").map(String.init)
            #expect(words.first == "/usr/bin/offer-signer")
            let options = try #require(commands[words[1]])
            #expect(Set(words.filter { $0.hasPrefix("-") }).subtracting(options) == [])
        }
        #expect(starts == 1)
    }

    /// Runs `doctor` with these settings and a key.
    private func doctor(
        _ settings: [String: String], configuration: String, keyMode: Int = 0o600
    ) throws -> Command.Outcome {
        let folder = try TemporaryFolder()
        try folder.write(PrivateKeyPEM.generate(), to: "SubscriptionKey_\(Self.keyID).p8", mode: keyMode)
        try folder.write(configuration.utf8, to: "offers.yaml")
        var ours = [
            "SUBSCRIPTION_OFFERS_KEYS_DIR": folder.path, "SUBSCRIPTION_OFFERS_CONFIG": folder.path + "/offers.yaml",
            "SUBSCRIPTION_OFFERS_AUDIT_LOG": folder.path + "/audit.jsonl",
        ]
        #expect(Set(ours.keys).isSubset(of: settings.keys))
        if settings["SUBSCRIPTION_OFFERS_DATABASE"] != nil {
            ours["SUBSCRIPTION_OFFERS_DATABASE"] = "sqlite:\(folder.path)/subscribers.sqlite"
        }
        // The folder of signing keys must not contain this key.
        let connect = try TemporaryFolder()
        if settings["SUBSCRIPTION_OFFERS_APP_STORE_CONNECT_KEY_FILE"] != nil {
            try connect.write(PrivateKeyPEM.generate(), to: "AuthKey_\(Self.keyID).p8")
            ours["SUBSCRIPTION_OFFERS_APP_STORE_CONNECT_KEY_FILE"] = connect.path + "/AuthKey_\(Self.keyID).p8"
        }
        return try Command.runOfferSigner(["doctor"], environment: settings.merging(ours) { $1 })
    }

    private func doctorOfDebian(_ environment: String, configuration: String) throws -> Command.Outcome {
        let (settings, problems) = EnvironmentFile.read(Array(environment.utf8), name: "env")
        #expect(problems.isEmpty)
        return try doctor(settings, configuration: configuration)
    }

    @Test("the package's default settings need only a key and apps")
    func untouchedSettings() throws {
        let outcome = try doctorOfDebian(
            Self.text("packaging/debian/offer-signer.env"), configuration: Self.text("packaging/debian/offers.yaml"))
        #expect(outcome.status == 1)
        #expect(outcome.standardError.matches(of: /(?m)^error:/).count == 1, "\(outcome.standardError)")
        #expect(outcome.standardError.contains("offers.yaml is empty\nhint: add apps"))
    }

    @Test("the package's settings work with every example uncommented")
    func exampleSettings() throws {
        // Prose has one space after #; an example has a name or deeper indentation.
        let environment = try Self.text("packaging/debian/offer-signer.env").replacing(/(?m)^#([A-Z])/) { $0.output.1 }
        let offers = try Self.text("packaging/debian/offers.yaml").replacing(/(?m)^#([a-z]|  )/) { $0.output.1 }
        let outcome = try doctorOfDebian(environment, configuration: offers)
        #expect(outcome.status == 0, "\(outcome.standardError)")
        #expect(outcome.standardOutput.contains("ok: key \(Self.keyID) signs\n"))
        #expect(outcome.standardOutput.contains("ok: pages of capacitor://localhost, https://app.example.com, "))
    }

    @Test("the Kubernetes example is valid YAML, and doctor accepts its settings with a mounted secret's file mode")
    func kubernetes() throws {
        let text = try Self.text("packaging/kubernetes/offer-signer.yaml")
        let objects = try Yams.load_all(yaml: text).map { try #require($0 as? [String: Any]) }
        #expect(objects.map { $0["kind"] as? String } == ["ConfigMap", "Deployment", "Service", "NetworkPolicy"])
        let data = try #require(objects[0]["data"] as? [String: String])
        let deployment = try #require(objects[1]["spec"] as? [String: Any])
        let pod = try #require((deployment["template"] as? [String: Any])?["spec"] as? [String: Any])
        let container = try #require((pod["containers"] as? [[String: Any]])?.first)
        let variables = try #require(container["env"] as? [[String: Any]])
        var settings = Dictionary(
            uniqueKeysWithValues: try variables.filter { variable in variable["valueFrom"] == nil }.map { variable in
                (try #require(variable["name"] as? String), try #require(variable["value"] as? String))
            })
        // Its server is not here.
        let database = settings.removeValue(forKey: "SUBSCRIPTION_OFFERS_DATABASE") ?? ""
        #expect(database.hasPrefix("postgresql://") && StoreLocation(database) != nil)
        #expect(deployment["replicas"] as? Int == 2)
        let outcome = try doctor(settings, configuration: try #require(data["offers.yaml"]), keyMode: 0o440)
        #expect(outcome.status == 0, "\(outcome.standardError)")
        #expect(outcome.standardOutput.contains("ok: key \(Self.keyID) signs\n"))

        let mounts = try #require(container["volumeMounts"] as? [[String: Any]])
        let paths = mounts.compactMap { $0["mountPath"] as? String }
        #expect(paths.contains(settings["SUBSCRIPTION_OFFERS_KEYS_DIR"] ?? ""))
        #expect(paths.contains { settings["SUBSCRIPTION_OFFERS_CONFIG"] == "\($0)/offers.yaml" })
        for probe in ["livenessProbe", "readinessProbe"] {
            let get = try #require((container[probe] as? [String: Any])?["httpGet"] as? [String: String])
            #expect(["/health/live", "/health/ready"].contains(get["path"]))
        }
        // The `preStop` pause of 5 s, and up to 13 s for stopping.
        #expect(pod["terminationGracePeriodSeconds"] as? Int ?? 0 > 5 + 13)
    }

    @Test("the Dockerfile copies only files in the build context and starts existing commands")
    func image() throws {
        let lines = try Self.text("packaging/docker/Dockerfile").split(separator: "\n").map(String.init)
        let letIn = try Self.text("packaging/docker/Dockerfile.dockerignore").split(separator: "\n")
        let commands = try Self.commands()
        for line in lines where line.hasPrefix("COPY ") && !line.contains("--from=") {
            for source in line.split(separator: " ").dropFirst().dropLast() {
                #expect(FileManager.default.fileExists(atPath: Self.repository.appending(path: source).path))
                #expect(letIn.contains("!\(source)"))
            }
        }
        // SwiftPM refuses a manifest if the folder of a target does not exist.
        let copied = lines.filter { $0.hasPrefix("COPY ") }.flatMap { $0.split(separator: " ").dropFirst().dropLast() }
        for folder in try Self.text("Package.swift").matches(of: /path: "(\w+)\//).map(\.output.1) {
            #expect(copied.contains(folder))
        }
        let script = try #require(lines.first { $0.hasPrefix("RUN scripts/") }?.split(separator: " ")[1])
        #expect(FileManager.default.isExecutableFile(atPath: Self.repository.appending(path: script).path))
        for line in lines {
            guard let command = line.firstMatch(of: /CMD \["(?:offer-signer", ")?([a-z]+)"\]/) else { continue }
            #expect(commands[String(command.output.1)] != nil)
        }
    }
}
