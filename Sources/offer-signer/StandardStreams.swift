import SystemPackage

/// Writes to the standard streams without a buffer, so that a line is there as soon as it is printed. A closed pipe is
/// the reader's decision and no error of ours.
enum StandardStreams {
    static func print(_ text: String) { _ = try? FileDescriptor.standardOutput.writeAll(text.utf8) }
    static func printError(_ text: String) { _ = try? FileDescriptor.standardError.writeAll(text.utf8) }
}
