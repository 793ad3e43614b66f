/// A condition that did not become true in time.
package struct WaitTimeout: Error, CustomStringConvertible {
    /// A message with the source location of the wait.
    package let description: String
}

/// Waits until a condition is true.
///
/// The limit ends a hung test only. It is far longer than any wait on a loaded machine.
/// - Throws: ``WaitTimeout`` after five minutes.
package func waitUntil(
    file: StaticString = #fileID, line: Int = #line, _ condition: () async throws -> Bool
) async throws {
    for _ in 0..<3000 {
        if try await condition() { return }
        try await Task.sleep(for: .milliseconds(100))
    }
    throw WaitTimeout(description: "timed out after five minutes at \(file):\(line)")
}
