import ArgumentParser
import OfferCore
import OfferFiles
import SubscriberStore

/// `offer-signer database import`: adds the contents of an export.
struct DatabaseImportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Add the records of an export to the database, which is created if necessary.",
        discussion: """
            Newer data in the database stays. An import can be repeated, even after an interruption: nothing is \
            counted twice.

              offer-signer database import subscribers.jsonl --database sqlite:data/new.sqlite
            """
    )

    @Argument(help: "The file to read; standard input if none is named.") var path: String?
    @OptionGroup var options: DatabaseOptions

    /// The maximum size of a line, in bytes. A line can contain a notification as received, in base64.
    private static let maximumLine = 4 * 1024 * 1024

    func run() async throws {
        let count = try await options.withStore(.migrating) { store in
            var line = 0
            var progress = Progress()
            do {
                let lines = try LineReader(path: path ?? "-", maximumSize: Self.maximumLine)
                return try await StoreImport(into: store).run {
                    line += 1
                    return try lines.next()
                } progress: { count in
                    progress.report("\(count) records")
                }
            } catch let error as StoreError {
                throw error
            } catch {
                throw CommandError(
                    "\(path ?? "standard input"), line \(line): \("\(error)".printable)",
                    hint: "the lines before it are stored; repeat the import with a complete export")
            }
        }
        StandardStreams.print("ok: \(count) records\n")
    }
}
