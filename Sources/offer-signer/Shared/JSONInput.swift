import ArgumentParser
import OfferCore
import OfferFiles
import OfferHTTP
import SystemPackage

/// The JSON object that a command reads from a file or standard input, as strictly as the service reads a body.
struct JSONInput: ParsableArguments {
    @Argument(help: "A file with the JSON object (default: standard input).")
    var file: String?

    func read() throws -> JSONObject {
        let bytes: [UInt8]
        do {
            let descriptor = try file.map { try FileDescriptor.open(FilePath($0), .readOnly) } ?? .standardInput
            guard let input = try descriptor.readAll(maximumSize: HTTPRequest.maximumBodySize) else {
                throw CommandError("the input is larger than \(HTTPRequest.maximumBodySize) bytes")
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
            throw CommandError("the input is not valid JSON: \(error)")
        }
    }
}
