import Foundation

/// A text file to which lines are added, each with one system call.
final class LineFile: Sendable {
    struct Failure: Error { let path: String }

    private let path: String
    private let descriptor: Int32

    init(path: String) throws {
        self.path = path
        descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw Failure(path: path) }
    }

    deinit { close(descriptor) }

    func add(_ text: String) throws {
        let line = Array("\(text)\n".utf8)
        let written = unsafe line.withUnsafeBytes { unsafe write(descriptor, $0.baseAddress, $0.count) }
        guard written == line.count else { throw Failure(path: path) }
    }
}
