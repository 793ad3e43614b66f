import Foundation
import FuzzTargets
import TestSupport
import Testing

/// Replays the seeds and past findings of scripts/fuzz in every test run.
@Suite("Fuzzer corpora")
struct CorpusTests {
    private static let corpora = MarkdownBlock.repository.appending(path: "Tests/Fuzz/Corpora")

    @Test("every property holds for every input in the corpora", arguments: FuzzTarget.all)
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

    @Test("every target has a corpus and every corpus a target, so scripts/fuzz runs them all")
    func targets() throws {
        let folders = try FileManager.default.contentsOfDirectory(atPath: Self.corpora.path)
        #expect(Set(folders) == Set(FuzzTarget.all.map(\.name)))
    }

    @Test("no target imports a module for testing, because scripts/fuzz builds for release")
    func imports() throws {
        let folder = MarkdownBlock.repository.appending(path: "Tests/Fuzz/Targets")
        let files = try #require(FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil))
            .compactMap { $0 as? URL }.filter { $0.pathExtension == "swift" }
        #expect(files.count > 10)
        for file in files {
            let text = try String(contentsOf: file, encoding: .utf8)
            #expect(!text.contains("@testable"), "\(file.lastPathComponent)")
        }
    }
}
