import Foundation

/// The files of a chain for load.
enum LoadFile {
    /// Creates a folder that only this account can read. One that exists is kept.
    static func create(folder: String) throws {
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    }

    static func write(_ bytes: [UInt8], to path: String) throws {
        // An earlier chain stays whole: other runs may sign with it.
        try Data(bytes).write(to: URL(filePath: path), options: .withoutOverwriting)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
    }

    static func read(_ path: String) throws -> [UInt8] { [UInt8](try Data(contentsOf: URL(filePath: path))) }
}
