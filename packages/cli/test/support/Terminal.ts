import type { ChildProcess } from "node:child_process"
import { once } from "node:events"
import { fileURLToPath } from "node:url"
import { type TestHome, node, type RunOptions, until } from "./Programs.js"

const spawnAtTerminal = "import os, pty, sys; sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))"

export const client = fileURLToPath(new URL("../../bin/coffer.js", import.meta.url))

/** Pasted text, as a terminal marks it that has been asked to. */
export const pasted = (text: string) => `\x1b[200~${text.replaceAll("\n", "\r")}\x1b[201~`

/** A program at a pseudo-terminal, with a person at the keys. */
export class Terminal {
  private readonly child: ChildProcess
  private seen = 0
  screen = ""

  constructor(home: TestHome, command: ReadonlyArray<string>, options: RunOptions = {}) {
    this.child = home.spawn("python3", ["-c", spawnAtTerminal, ...command], options)
    this.child.stdout?.on("data", (chunk: Buffer) => (this.screen += chunk.toString()))
  }

  static coffer(home: TestHome, ...args: ReadonlyArray<string>) {
    return new Terminal(home, [node, client, ...args])
  }

  /** The client at a terminal of this size. */
  static sized(home: TestHome, columns: number, rows: number, args: ReadonlyArray<string>, options: RunOptions = {}) {
    const script = `stty cols ${columns} rows ${rows}; exec "$@"`
    return new Terminal(home, ["sh", "-c", script, "sh", node, client, ...args], options)
  }

  type(text: string) {
    this.child.stdin?.write(text)
  }

  /** Waits for a text behind what was waited for before. */
  async sees(text: string) {
    this.seen = await until(
      () => {
        const at = this.screen.indexOf(text, this.seen)
        return at < 0 ? undefined : at + text.length
      },
      `${JSON.stringify(text)} at a terminal`
    )
  }

  /** Types an answer when the question is there. */
  async answer(question: string, text: string) {
    await this.sees(question)
    this.type(text)
  }

  /** The exit code, once the program has ended. */
  async ended(): Promise<number | null> {
    if (this.child.exitCode === null) await once(this.child, "close")
    return this.child.exitCode
  }
}
