import OfferCore
import OfferCrypto
import OfferServer
import OfferStorage

/// The key that `--development` signs with: an ordinary key file, which the App Store does not know.
enum DevelopmentKey {
    /// Makes it if `configuration` asks for it and it is not there yet.
    static func makeIfWanted(_ configuration: Configuration) throws {
        guard configuration.isDevelopment, let id = configuration.wanted.choice.ofAllApps else { return }
        do {
            try KeyFolder(configuration).create(id, pem: try PrivateKeyPEM.generate())
        } catch KeyFileError.exists {
            // Made earlier, or by another process just now.
        } catch let error as KeyFileError {
            throw error.problem
        }
        StandardStreams.printError(warning)
    }

    private static let warning = """
        ************************************************************************
        DEVELOPMENT KEY: the App Store will refuse every signature made with it.
        For real signatures use a key from App Store Connect: see README.md.
        ************************************************************************

        """
}
