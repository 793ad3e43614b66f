extension Duration {
    /// The permitted difference between Apple's clock and this machine's.
    static let clockTolerance = Duration.seconds(300)
}
