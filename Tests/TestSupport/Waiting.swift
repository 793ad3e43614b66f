/// Something that was waited for did not come.
package struct NeverSo: Error, CustomStringConvertible {
    /// Where it was waited for.
    package let description: String
}

/// Waits until something is so.
/// - Throws: ``NeverSo`` after half a minute.
package func waitUntil(
    file: StaticString = #fileID, line: Int = #line, _ isSo: () async throws -> Bool
) async throws {
    for _ in 0..<300 {
        if try await isSo() { return }
        try await Task.sleep(for: .milliseconds(100))
    }
    throw NeverSo(description: "what was waited for in \(file), line \(line), did not come within half a minute")
}
