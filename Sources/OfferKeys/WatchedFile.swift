import OfferCore

/// One file in a watched folder: the latest result of reading it, and the status that it keeps until that result has
/// settled.
struct WatchedFile {
    private(set) var stamp = FileStamp.absent
    /// The time at which the stamp or ``reading`` last changed.
    private var changed: ContinuousClock.Instant
    /// The latest result of reading the file; nil while it is absent.
    private var reading: KeyFileStatus?
    /// True if reading the unchanged file again may give a different result.
    private(set) var isTransient = false
    /// The status in force, if any.
    private(set) var status: KeyFileStatus?
    /// The time at which ``reading`` began to differ from ``status``; nil while they agree.
    private var unsettledSince: ContinuousClock.Instant?

    init(changed: ContinuousClock.Instant) {
        self.changed = changed
    }

    /// True if the file is absent and no longer has a status.
    var isForgotten: Bool { stamp == .absent && status == nil }

    /// Records the file's stamp and the result of reading it; the result is nil if the file is absent.
    mutating func record(
        _ stamp: FileStamp, as read: (status: KeyFileStatus, isTransient: Bool)?, at now: ContinuousClock.Instant
    ) {
        isTransient = read?.isTransient ?? false
        let isSame = isSameReading(read?.status)
        guard self.stamp != stamp || !isSame else { return }
        self.stamp = stamp
        changed = now
        if unsettledSince == nil { unsettledSince = now }
        if !isSame { reading = read?.status }
    }

    /// Puts the latest result in force once it has settled. Until then, a file that may be half written keeps its
    /// status.
    /// - Parameter immediately: true to skip the wait.
    /// - Returns: true if the status changed.
    mutating func settle(at now: ContinuousClock.Instant, immediately: Bool) -> Bool {
        guard let unsettledSince else { return false }
        let hasSettled =
            now - changed >= KeyFolderWatcher.settlingTime
            || now - unsettledSince >= KeyFolderWatcher.maximumSettlingTime
        if reading?.key != nil || immediately || hasSettled {
            self.unsettledSince = nil
            status = reading
            return true
        }
        guard status == nil, let id = reading?.id else { return false }
        status = .unsettled(id)
        return true
    }

    /// Returns true if `other` is equivalent to ``reading``. If so, ``reading`` is kept, so that a key in use remains
    /// the same object.
    private func isSameReading(_ other: KeyFileStatus?) -> Bool {
        switch (reading, other) {
        case (nil, nil): true
        case (.key(let one), .key(let other)): one.pair.fingerprint == other.pair.fingerprint
        case (.refused(_, let one), .refused(_, let other)): one == other
        default: false
        }
    }
}
