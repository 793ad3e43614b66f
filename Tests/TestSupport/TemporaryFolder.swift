package import Foundation

/// A folder that goes away with its last reference.
package final class TemporaryFolder: Sendable {
    package let url: URL

    package init() throws {
        url = FileManager.default.temporaryDirectory.appending(path: "offer-signer-test-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: false)
    }

    deinit { try? FileManager.default.removeItem(at: url) }

    package var path: String { url.path }

    package func write(_ bytes: some Sequence<UInt8>, to name: String) throws {
        try Data(bytes).write(to: url.appending(path: name))
    }

    package func read(_ name: String) throws -> [UInt8] { [UInt8](try Data(contentsOf: url.appending(path: name))) }
}
