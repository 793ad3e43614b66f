import CProcess

/// The priority of a command that reads every customer of the database while the service may run on the same machine.
enum IdleProcess {
    /// Lets this command use only processor time that no other process of its control group needs (SCHED_IDLE, sched(7)). If
    /// the system refuses, the command runs as others do.
    static func begin() { _ = offer_run_process_only_when_idle() }
}
