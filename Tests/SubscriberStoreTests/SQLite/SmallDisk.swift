import Foundation
import TestSupport

/// A file system of a few megabytes in memory. Mounting one needs the rights of root.
final class SmallDisk: Sendable {
    let folder: TemporaryFolder

    var path: String { folder.path }

    init(megabytes: Int) throws {
        folder = try TemporaryFolder()
        try Self.run("mount", "-t", "tmpfs", "-o", "size=\(megabytes)m", "tmpfs", folder.path)
    }

    deinit { _ = try? Command.run("umount", ["--lazy", folder.path]) }

    func setReadOnly(_ isReadOnly: Bool) throws {
        try Self.run("mount", "-o", "remount,\(isReadOnly ? "ro" : "rw")", folder.path)
    }

    /// Writes a file that takes space.
    func fill(megabytes: Int) throws {
        _ = try Command.run("dd", ["if=/dev/zero", "of=\(path)/ballast", "bs=1M", "count=\(megabytes)"])
    }

    func free() throws { try FileManager.default.removeItem(atPath: path + "/ballast") }

    private static func run(_ program: String, _ arguments: String...) throws {
        let outcome = try Command.run(program, arguments)
        guard outcome.status == 0 else { throw Fault(text: outcome.standardError) }
    }

    struct Fault: Error { let text: String }
}
