import { assert, describe, it } from "vitest"
import { TestHome } from "../support/Programs.js"
import { Terminal } from "../support/Terminal.js"
import { workplace } from "../support/Workplace.js"

const place = workplace()

describe("a question left by ctrl-C", () => {
  const leave = async (terminal: Terminal, question: string) => {
    await terminal.answer(question, "\x03")
    assert.strictEqual(await terminal.ended(), 130)
    assert.match(terminal.screen.slice(terminal.screen.lastIndexOf(question) + question.length), /^[^\n]*\n$/)
  }

  it("ends its line at [y/N]", async () => {
    await leave(Terminal.coffer(place.home, "secret", "delete", "API_KEY"), "[y/N] ")
  })

  it("ends its line at the name of a place to delete", async () => {
    await leave(Terminal.coffer(place.home, "env", "delete", "staging"), "Type staging to go on: ")
  })

  it("ends its line at Code:", async () => {
    const home = new TestHome(place.server.url)
    await leave(Terminal.coffer(home, "login", "--email", "ada@example.com"), "Code: ")
    home.remove()
  })
})
