import OfferFiles
import SystemPackage

/// A file that a command creates and that only the user can read. It appears only when it is complete.
struct NewFile {
    private let path: FilePath

    /// - Throws: an error for the user if the file exists.
    init(_ path: String) throws {
        self.path = FilePath(path)
        do { try PrivateFile.requireAbsent(self.path) } catch {
            throw CommandError("\(path) exists already", hint: "name a new file")
        }
    }

    /// Creates the file with what `write` writes. If `write` fails, no file remains.
    /// - Parameter hint: advice for the user if the file cannot be written.
    func create<Result>(hint: String, _ write: (FileDescriptor) async throws -> Result) async throws -> Result {
        let temporary = FilePath("\(path).\(UInt32.random(in: 0 ... .max)).partial")
        do {
            try PrivateFile.createTemporary(temporary)
            do {
                let file = try FileDescriptor.open(temporary, .writeOnly, options: [.noFollow, .closeOnExec])
                let result: Result
                do { result = try await write(file) } catch {
                    try? file.close()
                    throw error
                }
                try file.close()
                try PrivateFile.publish(temporary, as: path)
                return result
            } catch {
                try? PrivateFile.remove(temporary)
                throw error
            }
        } catch {
            guard error is Errno else { throw error }
            throw CommandError("\(path) cannot be written (\(error))", hint: hint)
        }
    }
}
