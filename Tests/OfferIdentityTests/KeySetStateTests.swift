import OfferCore
import OfferIdentity
import Testing

@Suite("Key set state")
struct KeySetStateTests {
    private static let start = ContinuousClock.now
    private static let problem = Diagnostic("it failed", hint: "fix it")
    private static let unavailable = KeySetFault(.unavailable, problem)
    private static let unusable = KeySetFault(.unusable, Diagnostic("it is unusable", hint: "fix it"))
    private static let text = KeySetText([1])
    private static let good = KeySetState.Reading.success(
        (set: UserKeySet([UserKeySet.Key(id: nil, algorithm: .es256) { _, _ in true }]), problems: [problem]))

    private static func instant(_ second: Int) -> ContinuousClock.Instant { start + .seconds(second) }

    /// The first second at which the location is read again.
    private static func nextRead(_ state: KeySetState, after second: Int, refreshRequested: Bool = false) -> Int? {
        (second...second + 1000).first { second in
            var state = state
            return state.begin(0, at: instant(second), isRefreshRequested: refreshRequested)
        }
    }

    private static func begun(_ place: KeySetLocation) -> KeySetState {
        var state = KeySetState(place)
        let (isAtOnce, isTwice) = (
            state.begin(1, at: start, isRefreshRequested: false),
            state.begin(2, at: instant(1000), isRefreshRequested: true)
        )
        #expect(isAtOnce && !isTwice, "one read at a time")
        #expect(state.isReading(1) && !state.isReading(2))
        return state
    }

    @Test(
        "a working URL is read every five minutes; a failing one is retried after 5 s, then at growing intervals",
        arguments: [false, true])
    func intervals(isUnusable: Bool) {
        var state = Self.begun(.url("a"))
        var second = 0
        for pause in [5, 10, 20, 40, 60, 60, 60] {
            if !isUnusable {
                state.fail(with: Self.unavailable, at: Self.instant(second))
            } else if !state.endUnchanged(with: Self.text, at: Self.instant(second)) {
                state.end(with: Self.text, .failure(Self.unusable), at: Self.instant(second))
            }
            #expect(state.problems(at: Self.start) == [isUnusable ? Self.unusable.problem : Self.problem])
            #expect(Self.nextRead(state, after: second) == second + pause)
            second += pause
            _ = state.begin(1, at: Self.instant(second), isRefreshRequested: false)
        }
        state.end(with: KeySetText([2]), Self.good, at: Self.instant(second))
        #expect(Self.nextRead(state, after: second) == second + 300)
        _ = state.begin(2, at: Self.instant(second + 300), isRefreshRequested: false)
        state.fail(with: Self.unavailable, at: Self.instant(second + 300))
        #expect(Self.nextRead(state, after: second + 300) == second + 305, "the backoff starts over")
    }

    @Test("an unknown key ID triggers an immediate read, and another no sooner than 30 seconds later")
    func requestedRefresh() {
        var state = Self.begun(.url("a"))
        state.end(with: Self.text, Self.good, at: Self.start)
        #expect(Self.nextRead(state, after: 1, refreshRequested: true) == 1)
        _ = state.begin(2, at: Self.instant(1), isRefreshRequested: true)
        let isSame = state.endUnchanged(with: Self.text, at: Self.instant(1))
        #expect(isSame)
        #expect(Self.nextRead(state, after: 2, refreshRequested: true) == 31)
    }

    @Test("a file is read on every check, after both success and failure")
    func files() {
        var state = Self.begun(.file(path: "a"))
        state.end(with: Self.text, Self.good, at: Self.start)
        #expect(state.problems(at: Self.start) == [Self.problem])
        #expect(Self.nextRead(state, after: 1) == 1)
        _ = state.begin(2, at: Self.instant(1), isRefreshRequested: false)
        state.fail(with: Self.unavailable, at: Self.instant(1))
        #expect(Self.nextRead(state, after: 2) == 2)
    }

    @Test("an unavailable set leaves the old set and its age unchanged; an unusable set replaces it immediately")
    func lifetime() {
        var state = Self.begun(.file(path: "a"))
        state.end(with: Self.text, Self.good, at: Self.start)
        _ = state.begin(2, at: Self.instant(60), isRefreshRequested: false)
        let isSame = state.endUnchanged(with: Self.text, at: Self.instant(60))
        #expect(isSame)
        for (number, fault) in [(3, nil), (4, Self.unavailable)] {
            _ = state.begin(number, at: Self.instant(61), isRefreshRequested: false)
            if let fault {
                state.end(with: KeySetText([UInt8(number)]), .failure(fault), at: Self.instant(61))
            } else {
                state.fail(with: Self.unavailable, at: Self.instant(61))
            }
            #expect(state.fetched?.set.keys.count == 1 && state.fetched?.fetchedAt == Self.instant(60))
        }

        _ = state.begin(5, at: Self.instant(62), isRefreshRequested: false)
        state.end(with: KeySetText([5]), .failure(Self.unusable), at: Self.instant(62))
        #expect(state.fetched?.set.keys.isEmpty == true)
        #expect(state.problems(at: Self.instant(62)) == [Self.unusable.problem])
        // The earlier usable text returns.
        _ = state.begin(6, at: Self.instant(63), isRefreshRequested: false)
        let isKnown = state.endUnchanged(with: Self.text, at: Self.instant(63))
        #expect(!isKnown, "the text must be parsed")
        state.end(with: Self.text, Self.good, at: Self.instant(63))
        #expect(state.fetched?.set.keys.count == 1)
    }

    @Test("a refused text that has not changed is not parsed again and stays refused")
    func remembered() {
        for fault in [Self.unavailable, Self.unusable] {
            var state = Self.begun(.file(path: "a"))
            state.end(with: Self.text, .failure(fault), at: Self.start)
            _ = state.begin(2, at: Self.instant(1), isRefreshRequested: false)
            let isSame = state.endUnchanged(with: Self.text, at: Self.instant(1))
            #expect(isSame)
            #expect(state.problems(at: Self.instant(1)) == [fault.problem])
        }
    }

    @Test("a read that hangs is reported")
    func hanging() {
        let state = Self.begun(.file(path: "a"))
        #expect(state.problems(at: Self.instant(20)) == [])
        #expect(state.problems(at: Self.instant(21)).first?.error.contains("reading a has taken longer") == true)
    }
}
