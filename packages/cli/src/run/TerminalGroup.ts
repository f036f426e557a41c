import * as Option from "effect/Option"
import { readFileSync } from "node:fs"
import { isatty } from "node:tty"

const read = Option.liftThrowable(() => readFileSync("/proc/self/stat", "latin1"))

/**
 * Whether this process is in the foreground group of its terminal: then the kernel has notified the command, which is in the
 * same group, of the ctrl-C itself.
 */
export const inForeground = (): boolean =>
  Option.match(read(), {
    // No /proc: stderr is the stream least often redirected.
    onNone: () => isatty(2),
    onSome: (text) => {
      // After the name, which may hold spaces and parentheses: state, parent, group, session, terminal, its foreground group (proc(5)).
      const fields = text.slice(text.lastIndexOf(")") + 2).split(" ")
      return fields[4] !== "0" && fields[2] === fields[5]
    }
  })
