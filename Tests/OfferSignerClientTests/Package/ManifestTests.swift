import Foundation
import Testing

@Suite struct ManifestTests {
    /// The manifest, on Linux or, with the condition turned round, as on a Mac.
    static func manifest(onLinux: Bool) throws -> String {
        let text = try String(
            contentsOf: Locations.repository.appendingPathComponent("Package.swift"), encoding: .utf8)
        try #require(text.components(separatedBy: "#if !os(Linux)").count == 2)
        return onLinux ? text : text.replacingOccurrences(of: "os(Linux)", with: "os(macOS)")
    }

    private func dump(onLinux: Bool) throws -> [String: Any] {
        let folder = try TemporaryFolder()
        try folder.write(Self.manifest(onLinux: onLinux), to: "Package.swift")
        let json = try Program.run(["swift", "package", "--package-path", folder.url.path, "dump-package"])
        return try #require(try JSONSerialization.jsonObject(with: json) as? [String: Any])
    }

    private func names(_ list: Any?) -> [String] {
        (list as? [[String: Any]] ?? []).compactMap { $0["name"] as? String }
    }

    @Test("Xcode sees one product, one target, and nothing to resolve")
    func onAMac() throws {
        let package = try dump(onLinux: false)
        #expect(
            names(package["products"]) == ["OfferSignerClient"] && names(package["targets"]) == ["OfferSignerClient"])
        #expect((package["dependencies"] as? [Any])?.isEmpty == true)
        let target = try #require((package["targets"] as? [[String: Any]])?.first)
        #expect((target["dependencies"] as? [Any])?.isEmpty == true)
        // Warnings of a newer SDK must not stop the build of an app.
        let settings = try #require(target["settings"] as? [[String: Any]])
        let warnings = try #require(settings.first { "\($0)".contains("treatAllWarnings") })
        #expect((warnings["condition"] as? [String: [String]])?["platformNames"] == ["linux"])
        let platforms = try #require(package["platforms"] as? [[String: Any]])
        let page = try ClientPageTests.page().lowercased()
        #expect(platforms.count == 5)
        for platform in platforms {
            let version = (platform["version"] as? String ?? "").replacingOccurrences(of: ".0", with: "")
            #expect(page.contains("\(platform["platformName"] ?? "") \(version)"), "docs/client.md")
        }
    }

    @Test("Linux sees the service as well")
    func onLinux() throws {
        let package = try dump(onLinux: true)
        #expect(names(package["products"]) == ["offer-signer", "OfferSignerClient", "OfferSigning"])
        #expect(
            Set(names(package["targets"])).isSuperset(of: [
                "offer-signer", "OfferSignerClient", "OfferSignerClientTests",
            ]))
        #expect((package["dependencies"] as? [Any])?.isEmpty == false)
    }
}
