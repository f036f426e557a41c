import { type ChildProcess, spawn, type SpawnOptions } from "node:child_process"
import { Socket } from "node:net"
import type { Readable } from "node:stream"

export interface Ended {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

/** The output of a process on one stream so far. */
class Heard {
  #text = ""
  readonly #watchers = new Set<() => void>()

  constructor(
    readonly stream: Readable | null,
    private readonly isEnded: () => boolean
  ) {
    stream?.setEncoding("utf8").on("data", (chunk: string) => {
      this.#text += chunk
      this.look()
    })
  }

  get text(): string {
    return this.#text
  }

  look(): void {
    for (const watch of this.#watchers) watch()
  }

  /** Waits until the text matches for the `count`-th time. Fails when the process has ended without that. */
  said(pattern: RegExp, count = 1): Promise<RegExpExecArray> {
    const everywhere = new RegExp(pattern, pattern.flags.includes("g") ? pattern.flags : `${pattern.flags}g`)
    return new Promise((resolve, reject) => {
      const look = () => {
        const found = [...this.#text.matchAll(everywhere)][count - 1]
        if (found === undefined && !this.isEnded()) return
        this.#watchers.delete(look)
        if (found === undefined) reject(new Error(`the server ended and never said ${pattern}:\n${this.#text}`))
        else resolve(found)
      }
      this.#watchers.add(look)
      look()
    })
  }
}

/** Processes to kill when this one ends, however it does. */
const running = new Set<ChildProcess>()
process.once("exit", () => {
  for (const child of running) child.kill("SIGKILL")
})

/** A server as a process of its own. */
export class ServerProcess {
  readonly child: ChildProcess
  readonly out: Heard
  readonly err: Heard
  /** How it ended, with all that it said. */
  readonly ended: Promise<Ended>
  #isEnded = false

  constructor([program, ...args]: readonly [string, ...Array<string>], options: SpawnOptions) {
    this.child = spawn(program, args, { stdio: "pipe", ...options })
    running.add(this.child)
    const isEnded = () => this.#isEnded
    this.out = new Heard(this.child.stdout, isEnded)
    this.err = new Heard(this.child.stderr, isEnded)
    this.ended = new Promise<Ended>((resolve, reject) => {
      this.child.once("error", reject).once("close", (code, signal) => {
        resolve({ code, signal })
      })
    }).finally(() => {
      running.delete(this.child)
      this.#isEnded = true
      this.out.look()
      this.err.look()
    })
    // A program that cannot be started: whoever waits for it learns of that.
    this.ended.catch(() => undefined)
  }

  /** Whether this process stays alive because of the server. */
  holds(isHolding: boolean): void {
    const { child } = this
    for (const handle of [child, child.stdin, child.stdout, child.stderr]) {
      if (handle === child || handle instanceof Socket) handle[isHolding ? "ref" : "unref"]()
    }
  }

  async stop(signal: NodeJS.Signals = "SIGTERM"): Promise<Ended> {
    this.holds(true)
    this.child.kill(signal)
    return this.ended
  }
}
