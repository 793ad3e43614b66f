import Foundation

/// A file system of a few megabytes in memory. Mounting one needs the rights of root.
package final class SmallDisk: Sendable {
    package let folder: TemporaryFolder

    package var path: String { folder.path }

    package init(megabytes: Int) throws {
        folder = try TemporaryFolder()
        try Self.run("mount", "-t", "tmpfs", "-o", "size=\(megabytes)m", "tmpfs", folder.path)
    }

    deinit { _ = try? Command.run("umount", ["--lazy", folder.path]) }

    package func setReadOnly(_ isReadOnly: Bool) throws {
        try Self.run("mount", "-o", "remount,\(isReadOnly ? "ro" : "rw")", folder.path)
    }

    /// Writes a file that takes space.
    package func fill(megabytes: Int) throws {
        _ = try Command.run("dd", ["if=/dev/zero", "of=\(path)/ballast", "bs=1M", "count=\(megabytes)"])
    }

    package func free() throws { try FileManager.default.removeItem(atPath: path + "/ballast") }

    private static func run(_ program: String, _ arguments: String...) throws {
        let outcome = try Command.run(program, arguments)
        guard outcome.status == 0 else { throw Fault(text: outcome.standardError) }
    }

    struct Fault: Error { let text: String }
}
