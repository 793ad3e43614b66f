package import OfferCore

/// Where ``KeyRingKeeper`` gets the configuration and the keys from. The executable fills it with the real places.
package struct KeyPlaces: Sendable {
    /// Reads the whole configuration again.
    package let readConfiguration: @Sendable () throws(ConfigurationError) -> Configuration
    /// Opens the folder of keys that a configuration names.
    package let openFolder: @Sendable (Configuration) -> any KeySource
    /// Reads a key whose text stands in the configuration.
    package let readText: @Sendable (KeyID, Secret) throws(SetupProblem) -> KeyRing.Key

    package init(
        readConfiguration: @escaping @Sendable () throws(ConfigurationError) -> Configuration,
        openFolder: @escaping @Sendable (Configuration) -> any KeySource,
        readText: @escaping @Sendable (KeyID, Secret) throws(SetupProblem) -> KeyRing.Key
    ) {
        self.readConfiguration = readConfiguration
        self.openFolder = openFolder
        self.readText = readText
    }
}
