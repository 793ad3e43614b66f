import ArgumentParser
import NIOConcurrencyHelpers
import OfferCore
import OfferFiles
import SubscriberStore
import SystemPackage

/// `offer-signer database export`: writes everything as lines of JSON.
struct DatabaseExportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Write the whole database as lines of JSON, to standard output or to a new file.",
        discussion: """
            The lines are a consistent snapshot. 'database import' of this or a later version reads them. They contain \
            personal data. A file appears complete or not at all. If the database is damaged, standard output still \
            gets everything before the damage.

              offer-signer database export subscribers.jsonl
            """
    )

    @Argument(help: "The file to create; standard output if none is named.") var path: String?
    @OptionGroup var options: DatabaseOptions

    func run() async throws {
        let count = try await options.withStore { store in
            guard let path else { return try await export(store, to: .standardOutput) }
            return try await export(store, toFile: FilePath(path))
        }
        StandardStreams.printError("ok: \(count) records\n")
    }

    /// Exports to a new file, which appears only when complete. Only this account can read it.
    private func export(_ store: any SubscriberStore, toFile path: FilePath) async throws -> Int {
        let temporary = FilePath("\(path).partial")
        do {
            try PrivateFile.requireAbsent(path)
            try PrivateFile.createTemporary(temporary)
            do {
                let file = try FileDescriptor.open(temporary, .writeOnly, options: [.noFollow, .closeOnExec])
                let count: Int
                do { count = try await export(store, to: file) } catch {
                    try? file.close()
                    throw error
                }
                try file.close()
                try PrivateFile.publish(temporary, as: path)
                return count
            } catch {
                try? PrivateFile.remove(temporary)
                throw error
            }
        } catch {
            guard error is Errno else { throw error }
            throw CommandError("\(path) cannot be written (\(error))", hint: "name a new file in a folder that exists")
        }
    }

    private func export(_ store: any SubscriberStore, to file: FileDescriptor) async throws -> Int {
        let output = NIOLockedValueBox(Output())
        @Sendable func flush(above size: Int) throws(StoreError) {
            let isWritten = output.withLockedValue { output in
                guard output.buffer.count > size else { return true }
                defer { output.buffer = [] }
                do { _ = try file.writeAll(output.buffer) } catch { output.failure = "\(error)" }
                return output.failure == nil
            }
            // This ends the reading. The error is replaced below.
            guard isWritten else { throw StoreError(.unreachable, "the export cannot be written") }
        }
        do {
            let count = try await StoreExport(of: store).run { line, _ throws(StoreError) in
                output.withLockedValue { $0.buffer += line }
                try flush(above: Self.bufferSize)
            }
            try flush(above: 0)
            return count
        } catch {
            if let failure = output.withLockedValue({ $0.failure }) {
                throw CommandError(
                    "the export cannot be written (\(failure))", hint: "free some space, or name another file")
            }
            // The records before the damage in a database can be imported.
            try? flush(above: 0)
            throw error
        }
    }

    private struct Output {
        var buffer: [UInt8] = []
        var failure: String?
    }

    /// The size of the output buffer, in bytes.
    private static let bufferSize = 64 * 1024
}
