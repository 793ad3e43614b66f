import OfferCore

/// One file of a ``KeyShelf``: what it is at the moment, and what it counts as.
struct ShelvedFile {
    /// What is seen of the file now, and since when it has been that.
    var sight: FileSight
    var since: ContinuousClock.Instant
    /// What reading it came to; nil while it is gone.
    var reading: KeyFinding?
    /// What it counts as; nil while that is nothing.
    private(set) var standing: KeyFinding?
    /// What was seen when it was decided what it counts as.
    private var decided: FileSight?

    init(sight: FileSight, since: ContinuousClock.Instant) {
        self.sight = sight
        self.since = since
    }

    /// Whether it is gone and counts as gone.
    var isForgotten: Bool { sight == .gone && standing == nil }

    /// Decides what the file counts as. While it may be half written, that is what it was before.
    /// - Parameter atOnce: whether to decide without waiting until it has settled.
    /// - Returns: whether it counts as something else than before.
    mutating func settle(at now: ContinuousClock.Instant, atOnce: Bool) -> Bool {
        guard decided != sight else { return false }
        let isWhole = if case .key = reading { true } else { false }
        if isWhole || atOnce || now - since >= KeyShelf.settlingTime {
            decided = sight
            standing = reading
            return true
        }
        guard standing == nil, let id = reading?.id else { return false }
        standing = .unsettled(id)
        return true
    }
}
