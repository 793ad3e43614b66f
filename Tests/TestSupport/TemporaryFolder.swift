package import Foundation

/// A temporary folder, deleted when its last reference is released.
package final class TemporaryFolder: Sendable {
    package let url: URL

    package init() throws {
        url = FileManager.default.temporaryDirectory.appending(path: "offer-signer-test-\(UUID().uuidString)")
        try FileManager.default.createDirectory(
            at: url, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
    }

    deinit { try? FileManager.default.removeItem(at: url) }

    package var path: String { url.path }

    /// Writes a file in place, as `cat >` does.
    package func write(_ bytes: some Sequence<UInt8>, to name: String, mode: Int = 0o600) throws {
        let file = url.appending(path: name)
        try Data(bytes).write(to: file)
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: file.path)
    }

    /// Writes a file and renames it into place, as an operator's `mv` does.
    package func drop(_ bytes: some Sequence<UInt8>, as name: String, mode: Int = 0o600) throws {
        let temporary = "." + UUID().uuidString
        try write(bytes, to: temporary, mode: mode)
        guard unsafe rename(path + "/" + temporary, path + "/" + name) == 0 else { throw CocoaError(.fileWriteUnknown) }
    }

    package func remove(_ name: String) throws { try FileManager.default.removeItem(at: url.appending(path: name)) }

    package func read(_ name: String) throws -> [UInt8] { [UInt8](try Data(contentsOf: url.appending(path: name))) }

    package func text(_ name: String) throws -> String { String(decoding: try read(name), as: UTF8.self) }

    package func lines(_ name: String) throws -> [String] { try text(name).split(separator: "\n").map(String.init) }
}
