import Foundation
import FuzzTargets
import TestSupport
import Testing

/// What scripts/fuzz begins with, and what it once found, goes through every ordinary run of the tests as well.
@Suite("Corpora of the fuzzer")
struct CorpusTests {
    private static let corpora = MarkdownBlock.repository.appending(path: "Tests/Fuzz/Corpora")

    @Test("every promise holds of every input in the tree", arguments: FuzzTarget.all)
    func promisesHold(target: FuzzTarget) throws {
        let folder = Self.corpora.appending(path: target.name)
        let inputs = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
        #expect(!inputs.isEmpty)
        for input in inputs {
            do { try target.run([UInt8](try Data(contentsOf: input))) } catch let broken as BrokenPromise {
                Issue.record("\(input.lastPathComponent): \(broken.promise)")
            }
        }
    }

    @Test("every corpus has its target, so that scripts/fuzz runs them all")
    func targets() throws {
        let folders = try FileManager.default.contentsOfDirectory(atPath: Self.corpora.path)
        #expect(Set(folders) == Set(FuzzTarget.all.map(\.name)))
    }
}
