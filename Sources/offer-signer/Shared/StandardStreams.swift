import SystemPackage

/// Writes to the standard streams without buffering. Write errors are ignored, so that a closed stream does not stop
/// the work.
enum StandardStreams {
    static func print(_ text: String) { _ = try? FileDescriptor.standardOutput.writeAll(text.utf8) }
    static func writeError(_ bytes: [UInt8]) { _ = try? FileDescriptor.standardError.writeAll(bytes) }
    static func printError(_ text: String) { _ = try? FileDescriptor.standardError.writeAll(text.utf8) }
}
