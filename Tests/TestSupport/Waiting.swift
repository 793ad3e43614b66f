/// Waits until something is so, for half a minute; what is expected is for the test to say then.
package func waitUntil(_ isSo: () async throws -> Bool) async throws {
    for _ in 0..<300 {
        if try await isSo() { return }
        try await Task.sleep(for: .milliseconds(100))
    }
}
