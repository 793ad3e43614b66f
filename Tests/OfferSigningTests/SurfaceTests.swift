import Foundation
import Testing

/// Keeps the public surface small: what is public must stay compatible for years.
@Suite struct SurfaceTests {
    private static let repository = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    /// The public declarations, whatever comes before the word.
    private func lines() throws -> [String] {
        let folder = Self.repository.appending(path: "Sources/OfferSigning")
        let paths = try FileManager.default.subpathsOfDirectory(atPath: folder.path)
            .filter { $0.hasSuffix(".swift") && !$0.contains(".docc/") }
        return try paths.flatMap { path in
            try String(contentsOf: folder.appending(path: path), encoding: .utf8).split(separator: "\n").map {
                $0.trimmingCharacters(in: .whitespaces)
            }
        }.filter { !$0.hasPrefix("//") && $0.contains(#/\b(public|open) /#) && !$0.contains(#/\bpublic import\b/#) }
    }

    @Test("there are at most 12 public types and 60 public declarations")
    func budget() throws {
        let lines = try lines()
        let types = lines.filter { $0.contains(#/\b(struct|class|actor|protocol|enum) /#) }
        #expect((8...12).contains(types.count), "\(types)")
        #expect(lines.count <= 60)
        // The members of such an extension would be public without the word.
        #expect(!lines.contains { $0.contains("extension ") })
    }

    @Test("no public type is an enum, which could not grow, or a class or a protocol, which others could extend")
    func onlyStructures() throws {
        #expect(try lines().allSatisfy { !$0.contains(#/\b(enum|class|protocol|open|indirect)\b/#) })
    }

    @Test("the last step of the tutorial is the example that CI runs")
    func tutorial() throws {
        func text(_ path: String) throws -> String {
            try String(contentsOf: Self.repository.appending(path: path), encoding: .utf8)
        }
        let resources = "Sources/OfferSigning/OfferSigning.docc/Resources/"
        #expect(
            try text(resources + "OfferServer-4.swift")
                == text("Examples/HummingbirdServer/Sources/OfferServer/OfferServer.swift"))
        #expect(try text(resources + "Package-1.swift") == text("Examples/HummingbirdServer/Package.swift"))
    }
}
