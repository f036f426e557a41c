import { assert, describe, it } from "vitest"
import { workplace } from "../support/Workplace.js"

const place = workplace()

interface Message {
  readonly type: string
  readonly message: string
}

/** Parses the output of the provider: one message a line. */
const messages = (stdout: string): ReadonlyArray<Message> =>
  stdout
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line))

const of = (type: string, said: ReadonlyArray<Message>) =>
  said.filter((message) => message.type === type).map(({ message }) => message)

/** As Compose calls a provider: the project's name goes before the action, options and the service's name after it. */
const compose = async (action: string, ...options: ReadonlyArray<string>) => {
  const { code, stderr, stdout } = await place.home.coffer([
    "compose",
    "--project-name=shop",
    action,
    ...options,
    "secrets"
  ])
  return { code, stderr, said: messages(stdout) }
}

const values = {
  URL: "postgres://app:p=ss@db/shop",
  LINES: "one\ntwo\n",
  "odd.key": "x",
  LD_PRELOAD: "x.so",
  EMPTY: ""
}

const furnish = async () => {
  const input = JSON.stringify(values)
  assert.strictEqual((await place.home.coffer(["secret", "import", "-", "--format", "json"], { input })).code, 0)
}

describe("coffer compose", () => {
  it("gives every variable that run would give, and says what it leaves out", async () => {
    await furnish()
    const { code, said } = await compose("up", "--project=webshop", "--env=dev")
    assert.strictEqual(code, 0)
    assert.sameMembers(of("rawsetenv", said), [`URL=${values.URL}`, `LINES=${values.LINES}`, "EMPTY="])
    assert.deepStrictEqual(of("info", said), [
      "left out odd.key: no environment variable can be called so",
      "left out LD_PRELOAD, which can make other programs run code; to pass it on, name it in the option allow-env",
      "3 secrets of acme/webshop/dev"
    ])
    assert.deepStrictEqual(
      (await compose("up")).said,
      said,
      "without options it finds its place in service.yml, and gives the same again"
    )
  })

  it("takes the options of the compose file", async () => {
    const some = await compose("up", "--only=URL,LD_PRELOAD", "--only=EMPTY", "--allow-env=LD_PRELOAD")
    assert.sameMembers(of("rawsetenv", some.said), [`URL=${values.URL}`, "EMPTY=", "LD_PRELOAD=x.so"])
    const prefixed = await compose("up", "--setenv=true", "--only=URL")
    assert.deepStrictEqual(of("setenv", prefixed.said), [`URL=${values.URL}`])
    assert.deepStrictEqual(of("rawsetenv", prefixed.said), [])
    assert.strictEqual(
      (await compose("up", "--env=acme/webshop/staging")).said.at(-1)?.message,
      "0 secrets of acme/webshop/staging"
    )
  })

  it("says in a message why it failed, because Compose shows no standard error", async () => {
    for (const [options, problem, wanted] of [
      [["--env=nope"], /environment nope does not exist/, 4],
      [["--project=X"], /a project name has/, 2],
      [["--only=NOT_THERE"], /NOT_THERE/, 4],
      [["--setenv=yes"], /^--setenv takes one of false, true$/, 2],
      [["--only=A B"], /^--only/, 2],
      [["--env="], /^--env needs a value$/, 2],
      [["--project=a", "--project=b"], /--project/, 2],
      [["--nope=1"], /^unknown option --nope/, 2]
    ] as const) {
      const { code, said } = await compose("up", ...options)
      assert.strictEqual(code, wanted)
      assert.deepStrictEqual(
        said.map(({ type }) => type),
        ["error"]
      )
      assert.match(said[0]?.message ?? "", problem)
    }
  })

  it("refuses a value that no variable can hold", async () => {
    await place.home.coffer(["secret", "set", "NUL", "--env", "prod"], { input: Buffer.from("a\0b") })
    const { code, said } = await compose("up", "--env=prod")
    assert.strictEqual(code, 1)
    assert.deepStrictEqual(of("rawsetenv", said), [])
    assert.match(of("error", said)[0] ?? "", /^NUL: the value holds a NUL byte/)
  })

  it("does nothing for a service that goes down", async () => {
    assert.deepStrictEqual(await compose("down"), { code: 0, stderr: "", said: [] })
  })

  it("describes its options to Compose, all of them optional", async () => {
    const { up, down } = JSON.parse(await place.prints("compose", "metadata"))
    assert.deepStrictEqual(down, { parameters: [] })
    assert.deepStrictEqual(
      up.parameters.map(({ name }: { readonly name: string }) => name),
      ["org", "project", "env", "only", "allow-env", "setenv"]
    )
    for (const parameter of up.parameters) {
      assert.isFalse(parameter.required, parameter.name)
      assert.strictEqual(typeof (parameter.default ?? ""), "string")
    }
  })
})
