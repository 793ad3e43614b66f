import OfferCore

/// One file of a ``KeyShelf``: what it is at the moment, and what it counts as.
struct ShelvedFile {
    /// What is seen of the file now, and since when it has been that.
    private(set) var sight = FileSight.gone
    private var since: ContinuousClock.Instant
    /// What reading it came to; nil while it is gone.
    private var reading: KeyFinding?
    /// Whether reading it again may come to something else, although nothing of it has changed.
    private(set) var mayPass = false
    /// What it counts as; nil while that is nothing.
    private(set) var standing: KeyFinding?
    /// Since when ``standing`` is not what was read last; nil while it is.
    private var undecidedSince: ContinuousClock.Instant?

    init(since: ContinuousClock.Instant) {
        self.since = since
    }

    /// Whether it is gone and counts as gone.
    var isForgotten: Bool { sight == .gone && standing == nil }

    /// Takes note of what is seen of the file and of what reading it came to; nil if it is gone.
    mutating func see(
        _ sight: FileSight, as read: (finding: KeyFinding, mayPass: Bool)?, at now: ContinuousClock.Instant
    ) {
        mayPass = read?.mayPass ?? false
        let isSame = isSameFinding(read?.finding)
        guard self.sight != sight || !isSame else { return }
        self.sight = sight
        since = now
        if undecidedSince == nil { undecidedSince = now }
        if !isSame { reading = read?.finding }
    }

    /// Decides what the file counts as. While it may be half written, that is what it was before.
    /// - Parameter atOnce: whether to decide without waiting until it has settled.
    /// - Returns: whether it counts as something else than before.
    mutating func settle(at now: ContinuousClock.Instant, atOnce: Bool) -> Bool {
        guard let undecidedSince else { return false }
        let hasSettled = now - since >= KeyShelf.settlingTime || now - undecidedSince >= KeyShelf.longestSettling
        if reading?.key != nil || atOnce || hasSettled {
            self.undecidedSince = nil
            standing = reading
            return true
        }
        guard standing == nil, let id = reading?.id else { return false }
        standing = .unsettled(id)
        return true
    }

    /// Whether `finding` says what the last reading said; then that is kept, and with it the object of a key in use.
    private func isSameFinding(_ finding: KeyFinding?) -> Bool {
        switch (reading, finding) {
        case (nil, nil): true
        case (.key(let one), .key(let other)): one.pair.fingerprint == other.pair.fingerprint
        case (.refused(_, let one), .refused(_, let other)): one == other
        default: false
        }
    }
}
