package import SystemPackage

extension FileDescriptor {
    /// Reads from the current position to the end.
    /// - Returns: the bytes; nil if there are more than `maximumSize`.
    package func readAll(maximumSize: Int) throws -> [UInt8]? {
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 4096)
        while bytes.count <= maximumSize {
            let count = try unsafe chunk.withUnsafeMutableBytes { try unsafe read(into: $0) }
            if count == 0 { return bytes }
            bytes += chunk.prefix(count)
        }
        return nil
    }
}
