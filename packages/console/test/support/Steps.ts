import type { Locator, Page } from "playwright-core"
import { press, type Visit } from "./Visit.js"

/** The effort that a step took a person. */
export interface Step {
  readonly name: string
  readonly clicks: number
  /** Texts, shortcuts and commands that were typed, and texts that were pasted: one each, however long. */
  readonly entries: number
  readonly seconds: number
}

/** Works on a page as a person does, and counts it. */
export class Hands {
  clicks = 0
  entries = 0

  constructor(readonly visit: Visit) {}

  get page(): Page {
    return this.visit.page
  }

  async click(target: Locator): Promise<void> {
    this.clicks += 1
    await target.click()
  }

  /** Presses a button, or opens the menu that has it: one of the dialog that is open, if the name stands on the page beneath too. */
  async press(name: string | RegExp): Promise<void> {
    this.clicks += await press(this.page, name, "last")
  }

  async follow(name: string | RegExp): Promise<void> {
    await this.click(this.page.getByRole("link", { name, exact: typeof name === "string" }).first())
  }

  /** Types a text into a field. A field that does not have the focus takes a click first. */
  async fill(label: string | RegExp, text: string): Promise<void> {
    const field = this.page.getByLabel(label).last()
    await field.waitFor()
    if (!(await field.evaluate((element) => element === document.activeElement))) this.clicks += 1
    this.entries += 1
    await field.fill(text)
  }

  /** Opens a list, and chooses a word of it. */
  async choose(label: string | RegExp, word: string): Promise<void> {
    this.clicks += 2
    await this.page.getByLabel(label).last().selectOption(word)
  }

  async key(key: string): Promise<void> {
    this.entries += 1
    await this.page.keyboard.press(key)
  }

  async type(text: string): Promise<void> {
    this.entries += 1
    await this.page.keyboard.type(text)
  }

  /** Pastes a text where the keyboard is. The browser's own clipboard is not used: all tests share it. */
  async paste(text: string): Promise<void> {
    this.entries += 1
    await this.page.evaluate(`{
      const data = new DataTransfer()
      data.setData("text/plain", ${JSON.stringify(text)})
      const target = document.activeElement ?? document.body
      target.dispatchEvent(new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true }))
    }`)
  }

  /** Drops a file on the page. */
  async drop(name: string, text: string): Promise<void> {
    this.clicks += 1
    await this.page.evaluate(`{
      const data = new DataTransfer()
      data.items.add(new File([${JSON.stringify(text)}], ${JSON.stringify(name)}))
      document.body.dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true }))
    }`)
  }

  /** Counts what is typed elsewhere, such as a command. */
  enter<A>(work: Promise<A>): Promise<A> {
    this.entries += 1
    return work
  }
}

/** The steps that were taken, in their order. */
export class Steps {
  readonly taken: Array<Step> = []

  /** Takes a step by some hands, and notes what it took them. */
  async take(name: string, hands: Hands, work: () => Promise<void>): Promise<void> {
    const before = { clicks: hands.clicks, entries: hands.entries, at: performance.now() }
    await work()
    this.taken.push({
      name,
      clicks: hands.clicks - before.clicks,
      entries: hands.entries - before.entries,
      seconds: (performance.now() - before.at) / 1000
    })
  }

  get table(): string {
    const sum = (of: "clicks" | "entries" | "seconds") => this.taken.reduce((all, step) => all + step[of], 0)
    const total = { name: "all", clicks: sum("clicks"), entries: sum("entries"), seconds: sum("seconds") }
    const width = Math.max(...this.taken.map(({ name }) => name.length))
    const line = (name: string, ...rest: ReadonlyArray<string>) =>
      [name.padEnd(width), ...rest.map((text) => text.padStart(8))].join("  ")
    return [
      line("step", "clicks", "entries", "seconds"),
      ...[...this.taken, total].map(({ clicks, entries, name, seconds }) =>
        line(name, String(clicks), String(entries), seconds.toFixed(1))
      ),
      ""
    ].join("\n")
  }
}
