/// A condition that did not become true in time.
package struct WaitTimeout: Error, CustomStringConvertible {
    /// A message with the source location of the wait.
    package let description: String
}

/// Waits until a condition is true.
/// - Throws: ``WaitTimeout`` after 30 seconds.
package func waitUntil(
    file: StaticString = #fileID, line: Int = #line, _ condition: () async throws -> Bool
) async throws {
    for _ in 0..<300 {
        if try await condition() { return }
        try await Task.sleep(for: .milliseconds(100))
    }
    throw WaitTimeout(description: "timed out after 30 seconds at \(file):\(line)")
}
