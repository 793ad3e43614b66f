import SystemPackage

/// Writes to the standard streams without buffering. A line that cannot be written is lost, but the work that it reports is
/// done anyway.
enum StandardStreams {
    static func print(_ text: String) { _ = try? FileDescriptor.standardOutput.writeAll(text.utf8) }
    static func writeError(_ bytes: [UInt8]) { _ = try? FileDescriptor.standardError.writeAll(bytes) }
    static func printError(_ text: String) { _ = try? FileDescriptor.standardError.writeAll(text.utf8) }
}
