import SystemPackage

extension FilePath {
    /// The folder that the file is in.
    var folder: FilePath { removingLastComponent().isEmpty ? "." : removingLastComponent() }
}
