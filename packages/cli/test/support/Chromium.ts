import { type ChildProcess, spawn } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { once } from "node:events"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { Writable } from "node:stream"
import { chromiumFlags } from "../../../../scripts/chromium.mjs"
import { until } from "./Programs.js"

interface Reply {
  readonly id?: number
  readonly result?: Record<string, unknown>
  readonly error?: { readonly message: string }
}

/** A real browser without a window, which runs no scripts of pages. It is driven over a pipe by the DevTools protocol. */
export class Chromium {
  readonly #profile = mkdtempSync(join(tmpdir(), "coffer-chromium-"))
  readonly #child: ChildProcess
  readonly #waiting = new Map<number, (reply: Reply) => void>()
  #session = ""
  #calls = 0
  #received = ""

  private constructor(path: string) {
    this.#child = spawn(
      path,
      ["--headless", ...chromiumFlags, "--remote-debugging-pipe", `--user-data-dir=${this.#profile}`],
      { stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"] }
    )
    this.#child.stdio[4]?.on("data", (chunk: Buffer) => this.#take(chunk.toString()))
  }

  static async start(path: string): Promise<Chromium> {
    const browser = new Chromium(path)
    const { targetId } = await browser.#call("Target.createTarget", { url: "about:blank" })
    const { sessionId } = await browser.#call("Target.attachToTarget", { targetId, flatten: true })
    browser.#session = String(sessionId)
    await browser.#call("Emulation.setScriptExecutionDisabled", { value: true })
    return browser
  }

  #take(text: string) {
    const [last = "", ...whole] = (this.#received + text).split("\0").reverse()
    this.#received = last
    for (const message of whole.reverse()) {
      const reply = JSON.parse(message) as Reply
      this.#waiting.get(reply.id ?? 0)?.(reply)
    }
  }

  async #call(method: string, params: object): Promise<Record<string, unknown>> {
    const id = ++this.#calls
    const answered = new Promise<Reply>((resolve) => this.#waiting.set(id, resolve))
    const session = this.#session === "" ? {} : { sessionId: this.#session }
    const pipe = this.#child.stdio[3] as Writable
    pipe.write(`${JSON.stringify({ id, method, params, ...session })}\0`)
    const { error, result } = await answered
    this.#waiting.delete(id)
    if (error !== undefined) throw new Error(`${method}: ${error.message}`)
    return result ?? {}
  }

  async #evaluate(expression: string): Promise<unknown> {
    const { result } = await this.#call("Runtime.evaluate", { expression, returnByValue: true })
    return (result as { readonly value?: unknown }).value
  }

  async open(address: string) {
    await this.#call("Page.navigate", { url: address })
  }

  /** Ends every session of the browser. */
  async forget() {
    await this.#call("Network.clearBrowserCookies", {})
  }

  /** Waits until the page shows a text; the address of the page. */
  async sees(text: string): Promise<string> {
    let found: unknown
    for (;;) {
      // No document while the page changes.
      found = await this.#evaluate("location.href + '\\n' + (document.body?.innerText ?? '')").catch(() => "")
      if (String(found).includes(text)) return String(found).split("\n", 1)[0] ?? ""
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  }

  /** Types into the field of a name, and presses a button, as a person does. */
  async fill(name: string, text: string) {
    await this.#evaluate(`document.querySelector('input[name="${name}"]').focus()`)
    await this.#evaluate(`document.querySelector('input[name="${name}"]').select()`)
    await this.#call("Input.insertText", { text })
    await this.press("Enter")
  }

  async press(key: "Enter") {
    const enter = { key, code: key, windowsVirtualKeyCode: 13, text: "\r" }
    await this.#call("Input.dispatchKeyEvent", { type: "keyDown", ...enter })
    await this.#call("Input.dispatchKeyEvent", { type: "keyUp", ...enter })
  }

  /** Clicks on the button or link with a text. */
  async click(text: string) {
    const place = await this.#evaluate(
      `(() => { const it = [...document.querySelectorAll("button, a")].find((b) => b.innerText.includes(${JSON.stringify(text)})); const r = it.getBoundingClientRect(); return [r.x + r.width / 2, r.y + r.height / 2] })()`
    )
    const [x, y] = place as [number, number]
    const at = { x, y, button: "left", clickCount: 1 }
    await this.#call("Input.dispatchMouseEvent", { type: "mousePressed", ...at })
    await this.#call("Input.dispatchMouseEvent", { type: "mouseReleased", ...at })
  }

  async close() {
    this.#child.kill("SIGKILL")
    if (this.#child.exitCode === null && this.#child.signalCode === null) await once(this.#child, "exit")
    await until(() => {
      try {
        rmSync(this.#profile, { recursive: true, force: true })
        return true
      } catch {
        return undefined
      }
    }, "the end of the browser's profile")
  }
}
