package import SystemPackage

extension FilePath {
    /// The folder that contains the file.
    package var folder: FilePath { removingLastComponent().isEmpty ? "." : removingLastComponent() }
}
