import ArgumentParser
import OfferCore
import OfferServer
import OfferStorage
import SystemPackage

/// The JSON object that a command reads, from a file or from standard input, as strictly as the service reads a body.
struct JSONInput: ParsableArguments {
    @Argument(help: "A file with the JSON object; standard input without it.")
    var file: String?

    func read() throws -> JSONObject {
        let bytes: [UInt8]
        do {
            let descriptor = try file.map { try FileDescriptor.open(FilePath($0), .readOnly) } ?? .standardInput
            guard let input = try descriptor.readAll(maximumSize: IncomingRequest.maximumBodySize) else {
                throw CommandError("the input is larger than \(IncomingRequest.maximumBodySize) bytes")
            }
            bytes = input
        } catch let error as Errno {
            throw CommandError("\(file ?? "standard input") cannot be read (\(error))")
        }
        do {
            guard case .object(let members) = try JSONReader.read(bytes) else {
                throw CommandError("the input is not a JSON object")
            }
            return members
        } catch let error as JSONError {
            throw CommandError("the input is not the JSON that is read here: \(error)")
        }
    }
}
