import ArgumentParser
import OfferConfiguration
import OfferCore
import OfferCrypto
import OfferKeys
import OfferService

/// `offer-signer keys list`: lists the keys that the service would load.
struct KeysListCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the keys that the service would load, and their states.",
        discussion: """
            Reads the configuration, the key folder and the tokens as 'serve' does. A key is active (it signs), on standby (it can be \
            chosen) or retired (it never signs again). The fingerprint is the SHA-256 of the public half, as printed by:

              openssl pkey -in SubscriptionKey_2X9R4HXF34.p8 -pubout -outform DER | sha256sum

            Unusable files are reported on standard error; 'keys check' exits with status 1 if there are any.
            """
    )

    @Option(Settings.keyID) var keyID: String?

    @OptionGroup var folder: KeyFolderOptions

    @Flag(help: "Print one JSON object per key instead of a table.")
    var json = false

    func run() throws {
        var flags = folder.flags
        flags[Settings.keyID] = keyID
        flags.mayChooseNoKey = true
        let keys = AvailableKeys(try folder.reader(flags).read().keys)
        var seen: Set<KeyID> = []
        let listed = keys.all.filter { status in status.id.map { seen.insert($0).inserted } ?? false }
            .compactMap(\.key).map { ListedKey($0, wanted: keys.settings.wanted) }
        if json {
            for key in listed { StandardStreams.print(key.json + "\n") }
        } else {
            StandardStreams.print(Self.table(of: listed))
        }
        for problem in keys.plan(from: KeyRing()).problems {
            StandardStreams.printError(CommandError(problem).text)
        }
    }

    private static func table(of keys: [ListedKey]) -> String {
        let heading = ["KEY", "STATE", "APPS", "FORM", "SHA-256 OF THE PUBLIC KEY"]
        let rows = [heading] + keys.map { [$0.id, $0.state.rawValue, $0.apps, $0.form, $0.fingerprint] }
        let widths = heading.indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
        return rows.map { row in
            let cells = zip(row, widths).map { cell, width in
                cell + String(repeating: " ", count: width - cell.count)
            }
            return cells.joined(separator: "  ").reversed().drop { $0 == " " }.reversed() + "\n"
        }.joined()
    }
}

/// One row of the list.
private struct ListedKey {
    let id: String
    let state: KeyState
    /// `all`, `all others`, or the apps for which this key is configured; `-` for none.
    let apps: String
    let form: String
    let fingerprint: String

    init(_ key: KeyRing.Key, wanted: WantedKeys) {
        id = "\(key.id)"
        let choice = wanted.choice
        state = choice.chooses(key.id) ? .active : wanted.retired.contains(key.id) ? .retired : .standby
        var apps = choice.apps(of: key.id).map(\.text.description)
        if choice.ofAllApps == key.id { apps.append(choice.ofApps.isEmpty ? "all" : "all others") }
        self.apps = apps.isEmpty ? "-" : apps.joined(separator: ",")
        form = KeyForm.text(of: key.pair)
        fingerprint = key.pair.fingerprint
    }

    var json: String {
        var writer = JSONWriter()
        writer.member("keyID", id)
        writer.member("state", state.rawValue)
        writer.member("apps", apps)
        writer.member("form", form)
        writer.member("fingerprint", fingerprint)
        return String(decoding: writer.finish(), as: UTF8.self)
    }
}
