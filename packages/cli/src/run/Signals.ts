import { constants } from "node:os"

/** How a command ended. */
export type Outcome =
  { readonly type: "exit"; readonly code: number } | { readonly type: "signal"; readonly signal: NodeJS.Signals }

/** Signals that must not end a client that waits for its command. TSTP is not among them: ctrl-Z must stop both. */
const forwarded = ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2"] as const

export interface Signals {
  /** From now on, signals are for somebody else. */
  readonly giveTo: (receive: (signal: NodeJS.Signals) => void) => void
  /** Gives every signal back to the kernel. */
  readonly release: () => void
}

const release = () => {
  for (const signal of forwarded) process.removeAllListeners(signal)
}

/** Ends this process as a signal ends one. */
export const dieOf = (signal: NodeJS.Signals): void => {
  const code = 128 + constants.signals[signal]
  // Node ignores SIGPIPE and SIGXFSZ, so the exit code reports them.
  if (signal === "SIGPIPE" || signal === "SIGXFSZ") return process.exit(code)
  release()
  process.removeAllListeners(signal)
  process.kill(process.pid, signal)
  // Where the signal does not end the process (it may be blocked), its code does.
  setTimeout(() => process.exit(code), 200)
}

/** Ends this process as its command ended. */
export const endAs = (outcome: Outcome): void =>
  outcome.type === "signal" ? dieOf(outcome.signal) : process.exit(outcome.code)

/** Stands before anything else is loaded: a signal that comes before there is a command ends the client with that signal. */
export const catchSignals = (): Signals => {
  // The client's own file has put an empty listener on USR1, so that Node does not open its debugger.
  release()
  let receive: (signal: NodeJS.Signals) => void = dieOf
  for (const signal of forwarded) process.on(signal, () => receive(signal))
  return {
    giveTo: (other) => {
      receive = other
    },
    release
  }
}
