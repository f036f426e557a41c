import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { once } from "node:events"
import { createServer } from "node:http"
import { join } from "node:path"
import { text } from "node:stream/consumers"
import { Effect } from "effect"
import { afterAll, assert, beforeAll, beforeEach, describe, it } from "vitest"
import { Browser, type Page } from "../../../server/test/support/Browser.js"
import { runInProcess } from "../support/InProcess.js"
import { client, Terminal } from "../support/Terminal.js"
import { finish, node, Server, TestHome, until } from "../support/Programs.js"

interface Person {
  readonly email: string
  readonly home: TestHome
}

let server: Server
const people: Array<Person> = []

/** A new person for each test: an address may ask for few codes. */
const newPerson = (): Person => {
  const person = { email: `person${people.length}@example.com`, home: new TestHome(server.url) }
  people.push(person)
  return person
}

let email: string
let home: TestHome

beforeAll(async () => {
  server = await Server.start((url) => ({ SERVICE_PUBLIC_URL: url }))
})
afterAll(async () => {
  for (const { home } of people) home.remove()
  await server.stop()
})
beforeEach(() => {
  ;({ email, home } = newPerson())
})

/** The platform's opener, which notes the address. */
const withOpener = (script: string) => {
  const folder = join(home.folder, "bin")
  mkdirSync(folder)
  const file = join(folder, "xdg-open")
  writeFileSync(file, `#!/bin/sh\n${script}\n`)
  chmodSync(file, 0o755)
  return { DISPLAY: ":0", PATH: `${folder}:${home.environment["PATH"] ?? ""}` }
}
const noting = () => withOpener(`printf '%s' "$1" > "$HOME/address.new" && mv "$HOME/address.new" "$HOME/address"`)
const opened = () =>
  until(() => {
    const file = join(home.folder, "address")
    return existsSync(file) ? readFileSync(file, "utf8") : undefined
  }, "the address in the browser")

const start = (env: Record<string, string>, ...args: ReadonlyArray<string>) =>
  new Terminal(home, [node, client, "login", ...args], { env })

/** Logs the person in on the server's pages, up to the question about the program. */
const logIn = async (reader: Browser, first: Page, address = email): Promise<Page> => {
  const asked = await reader.submit(first, { email: address })
  return reader.submit(asked, { code: await server.code(address) })
}

const nextOf = ({ text }: Page): string =>
  (/content="0; url=([^"]*)"/.exec(text)?.[1] ?? assert.fail(text)).replaceAll("&amp;", "&")

const whoami = async (at = home) =>
  JSON.parse((await at.coffer(["whoami", "--json"])).stdout) as { readonly email: string }

describe("coffer login with a browser", () => {
  it("opens the login page, and takes the code that the browser brings back", async () => {
    const terminal = start(noting())
    const reader = new Browser(server.url)
    const address = new URL(await opened())
    assert.strictEqual(address.origin, server.url)
    assert.strictEqual(address.searchParams.get("code_challenge_method"), "S256")
    const question = await logIn(reader, await reader.open(address.href))
    const back = await reader.open(nextOf(await reader.submit(question, { answer: "yes" })))
    assert.include(back.text, "You can close this window")
    await terminal.sees(`logged in to ${server.url} as ${email}`)
    assert.strictEqual(await terminal.ended(), 0)
    assert.strictEqual((await whoami()).email, email)
    assert.notInclude(terminal.screen, "svc_st_")
  })

  it("is refused by a no, and stores nothing", async () => {
    const terminal = start(noting())
    const reader = new Browser(server.url)
    const question = await logIn(reader, await reader.open(await opened()))
    await reader.open(nextOf(await reader.submit(question, { answer: "no" })))
    await terminal.sees("this login was refused in the browser")
    assert.strictEqual(await terminal.ended(), 3)
    assert.strictEqual((await home.coffer(["whoami"])).code, 3)
  })

  it("ends by ctrl-C, and with it the listener", async () => {
    const terminal = start(noting())
    const port = new URL(new URL(await opened()).searchParams.get("redirect_uri") ?? "").port
    terminal.type("\x03")
    assert.strictEqual(await terminal.ended(), 130)
    assert.strictEqual(await fetch(`http://127.0.0.1:${port}/`).catch(() => "refused"), "refused")
  })

  it.each([
    ["there is no display", () => ({}), "no browser can be opened here, because this machine has no display"],
    [
      "it is used by SSH",
      () => ({ ...noting(), SSH_CONNECTION: "192.0.2.1 50000 192.0.2.2 22" }),
      "no browser can be opened here, because this is a connection by SSH"
    ],
    ["the opener fails", () => withOpener("exit 3"), "no browser can be opened here: going on"],
    [
      "there is no opener",
      () => ({ DISPLAY: ":0", PATH: join(home.folder, "nothing") }),
      "no browser can be opened here: going on"
    ]
  ])("goes on with a code where %s", async (_where, env, sentence) => {
    const python = { PATH: home.environment["PATH"] ?? "", ...env() }
    const terminal = new Terminal(home, ["env", `PATH=${python.PATH}`, node, client, "login"], {
      env: { ...python, PATH: home.environment["PATH"] ?? "" }
    })
    await terminal.sees(sentence)
    await terminal.sees("enter the code ")
    terminal.type("\x03")
    assert.strictEqual(await terminal.ended(), 130)
  })
})

// Together: each waits some seconds between two polls.
describe.concurrent("coffer login --device", () => {
  /** Runs a login, during which a person enters its code, logs in, and says yes or no. */
  const decide = async (answer: "yes" | "no", ...args: ReadonlyArray<string>) => {
    const person = newPerson()
    const child = person.home.start(["login", "--device", ...args])
    let notes = ""
    child.stderr?.on("data", (chunk: Buffer) => (notes += chunk.toString()))
    const code = await until(() => /enter the code ([A-Z]{4}-[A-Z]{4})$/m.exec(notes)?.[1], "the code")
    const ended = finish(child)
    const reader = new Browser(server.url)
    await reader.submit(await reader.open("/device"), { code })
    const question = await logIn(reader, await reader.open("/login?again"), person.email)
    await reader.submit(question, { answer })
    return { ...person, notes, result: await ended }
  }

  it("shows a code, waits for the yes, and says who is logged in", async () => {
    const { email, home, notes, result } = await decide("yes")
    assert.include(notes, `open ${server.url}/device in a browser, on any machine`)
    assert.deepStrictEqual([result.code, result.stdout], [0, `logged in to ${server.url} as ${email}\n`])
    assert.strictEqual((await whoami(home)).email, email)
  })

  it("prints the identity for machines, and nothing else", async () => {
    const { email, result } = await decide("yes", "--json")
    assert.strictEqual(result.code, 0, result.stderr)
    assert.deepInclude(JSON.parse(result.stdout), { type: "user", email })
  })

  it("ends with 3 after a no", async () => {
    const { result } = await decide("no")
    assert.deepStrictEqual([result.code, result.stdout], [3, ""])
    assert.include(result.stderr, "this login was refused in the browser; run coffer login again")
  })
})

describe("coffer login", () => {
  it("takes --device without the other ways", async () => {
    for (const other of [["--email"], ["--email", email], ["--code", "123456"], ["--token", "-"]]) {
      const { code, stderr } = await home.coffer(["login", "--device", ...other])
      assert.strictEqual(code, 2)
      assert.include(stderr, "--device cannot be combined with --email, --code or --token")
    }
  })
})

describe("coffer login --email", () => {
  it("asks for the address at a terminal, though the server has pages for browsers", async () => {
    const terminal = start(noting(), "--email")
    await terminal.answer("E-mail: ", `${email}\r`)
    await terminal.answer("Code: ", `${await server.code(email)}\r`)
    await terminal.sees(`logged in to ${server.url} as ${email}`)
    assert.strictEqual(await terminal.ended(), 0)
    assert.isFalse(existsSync(join(home.folder, "address")))
  })

  it("goes on in steps without a terminal, for machines too", async () => {
    const { code, stdout } = await home.coffer(["login", "--email", email, "--json"])
    assert.strictEqual(code, 0)
    assert.deepInclude(JSON.parse(stdout), { next: `coffer login --email ${email} --code CODE` })
    const done = await home.coffer(["login", "--email", email, "--code", await server.code(email), "--json"])
    assert.deepInclude(JSON.parse(done.stdout), { type: "user", email })
    const alone = await home.coffer(["login", "--email"])
    assert.deepStrictEqual([alone.code, alone.stdout], [2, ""])
  })
})

describe("coffer login at a server without pages for browsers", () => {
  it("goes the way by e-mail, and --device says what is missing", async () => {
    const other = await Server.start()
    const there = new TestHome(other.url)
    const device = await there.coffer(["login", "--device"])
    assert.strictEqual(device.code, 1)
    assert.include(device.stderr, "has no address for browsers (its setting SERVICE_PUBLIC_URL)")
    const terminal = new Terminal(there, [node, client, "login"], { env: { DISPLAY: ":0" } })
    await terminal.answer("E-mail: ", `${email}\r`)
    await terminal.answer("Code: ", `${await other.code(email)}\r`)
    await terminal.sees("logged in to")
    assert.strictEqual(await terminal.ended(), 0)
    there.remove()
    await other.stop()
  })

  it("goes the way by e-mail at an older one, which does not know the call or the machines of sessions", async () => {
    const asked: Array<string> = []
    const answerOf = (url: string, sent: string): readonly [number, object] => {
      if (url === "/api/auth/methods") return [404, { error: { code: "NOT_FOUND", message: "no such path" } }]
      if (url === "/api/auth/login") return [200, { message: "sent" }]
      return sent.includes("machine")
        ? [400, { error: { code: "VALIDATION_ERROR", message: "machine is unexpected" } }]
        : [200, { token: `svc_st_${"A".repeat(43)}` }]
    }
    const old = createServer((request, response) => {
      void text(request).then((sent) => {
        const { url = "" } = request
        asked.push(`${url}${sent.includes("machine") ? " machine" : ""}`)
        const [status, body] = answerOf(url, sent)
        response.writeHead(status, { "content-type": "application/json" })
        response.end(JSON.stringify(body))
      })
    }).listen(0, "127.0.0.1")
    await once(old, "listening")
    const address = old.address()
    const port = typeof address === "object" ? (address?.port ?? 0) : 0
    const env = { ...home.environment, SERVICE_SERVER_URL: `http://127.0.0.1:${port}` }
    const result = await Effect.runPromise(runInProcess(["login"], env, { answers: [email, "123 456"] }))
    assert.include(result.stdout, "logged in to", result.stderr)
    const verify = "/api/auth/verify"
    assert.deepStrictEqual(asked, ["/api/auth/methods", "/api/auth/login", `${verify} machine`, verify])
    old.close()
  })
})
