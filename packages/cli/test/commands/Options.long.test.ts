import { afterAll, assert, describe, it } from "vitest"
import { TestHome } from "../support/Programs.js"

/** Nothing here needs a server. */
const home = new TestHome("http://127.0.0.1:1")
afterAll(() => home.remove())

const at = ["--org", "acme", "--project", "webshop", "--env", "dev"]

const versions = Array.from({ length: 1_001 }, (_, index) => index + 1).join(",")
const keys = Array.from({ length: 2_001 }, (_, index) => `K${index}`).join(",")

const wrong: ReadonlyArray<readonly [string, ReadonlyArray<string>, string]> = [
  [
    "a version below the first",
    ["secret", "get", "K", "--at", "0"],
    "--at must be a whole number from 1 to 2147483647"
  ],
  [
    "a version that is no number",
    ["secret", "get", "K", "--at", "1h"],
    "--at must be a whole number from 1 to 21474836"
  ],
  ["a version to go back to", ["secret", "rollback", "K", "--to", "0"], "--to must be a whole number from 1 to"],
  [
    "a negative version",
    ["secret", "set", "K", "v", "--if-version", "-1"],
    "--if-version must be a whole number from 0"
  ],
  [
    "too many versions",
    ["secret", "destroy", "K", "--versions", versions],
    "--versions: at most 1,000 versions at once"
  ],
  [
    "no versions",
    ["secret", "destroy", "K", "--versions", "1,0"],
    "--versions takes numbers of versions, separated by"
  ],
  ["too many keys", ["env", "copy", "dev", "prod", "--only", keys], "--only: at most 2,000 keys at once"],
  [
    "what is no key",
    ["env", "copy", "dev", "prod", "--only", "A,=secret"],
    "--only takes secret keys, separated by commas"
  ],
  ["too many keys to run with", ["run", "--only", keys, ...at, "--", "true"], "--only names too many keys"],
  [
    "a page that is too long",
    ["env", "revisions", "--limit", "0"],
    "--limit must be a whole number from 1 to 2147483647"
  ],
  ["people that nobody is", ["user", "list", "--email", "a b"], "--email must be the beginning of an e-mail address"],
  ["another list's cursor", ["audit", "list", "--after", "g15"], "--after must be the next_cursor of an earlier page"],
  [
    "one list's cursor",
    ["audit", "list", "--server", "--after", "s15"],
    "--after must be the next_cursor of an earlier"
  ],
  [
    "seconds with a unit that none has",
    ["service-account", "rotate", "ci", "--grace", "1x"],
    "--grace must be a whole number of seconds"
  ],
  [
    "a name out of a list",
    ["secret", "import", ".env", "--format=xml"],
    "--format takes one of env, shell, docker, json, "
  ],
  ["an option without its value", ["secret", "get", "K", "--env"], "--env needs a value; see coffer secret get --help"],
  [
    "an option for a value",
    ["secret", "list", "--env", "--removed"],
    "--env needs a value, and --removed is an option; "
  ],
  [
    "an option for a value, in run",
    ["run", "--env", "--watch", "true"],
    "--env needs a value, and --watch is an option"
  ],
  [
    "an option without its value, inline",
    ["secret", "get", "K", "--env="],
    "--env needs a value; see coffer secret get"
  ],
  [
    "an option that is given twice",
    ["secret", "set", "K", "--env", "a", "--env", "b"],
    "--env is given twice; see coffer"
  ],
  [
    "a role that is none",
    ["member", "set-role", "a@b.org", "king"],
    "ROLE takes one of member, developer, admin, owner"
  ],
  ["an address that is none", ["login", "--email", "ada"], "--email must be an e-mail address such as ada@example.com"],
  ["a file without a name", ["secret", "set", "K", "--file"], "--file needs a value; see coffer secret set --help"],
  ["a value that is not wanted", ["org", "list", "--json=1"], "--json takes no value; see coffer org list --help"],
  ["a format that nobody named", ["secret", "import", "-"], "the format of standard input is not known: add --format"]
]

describe("what is wrong with an option is said with its name", () => {
  it.each(wrong)("%s", async (_, args, sentence) => {
    const { code, stderr, stdout } = await home.coffer(args)
    assert.deepStrictEqual([code, stdout], [args[0] === "run" ? 125 : 2, ""], stderr)
    assert.strictEqual(stderr.slice(0, `coffer: ${sentence}`.length), `coffer: ${sentence}`)
    assert.match(stderr, /^[^\n]+\n$/)
    assert.notInclude(stderr, "=secret")
  })
})

describe("help is there at any place in front of --", () => {
  it.each([
    ["secret get", ["secret", "get", "--json", "--help"]],
    ["secret get", ["secret", "get", "K", "--env", "dev", "-h"]],
    ["secret get", ["secret", "get", "--no-such", "--help"]],
    ["secret set", ["secret", "set", "K", "--if-version", "1", "--help"]],
    ["secret get", ["help", "secret", "get"]],
    ["run", ["run", "--env", "prod", "--help"]],
    ["run", ["help", "run"]],
    ["secret list", ["--help", "secret", "list"]],
    ["secret list", ["secret", "--help", "list"]],
    ["secret list", ["secret", "-h", "list", "--json"]],
    ["run", ["--help", "run"]],
    ["run", ["-h", "run", "ls"]],
    ["declare list", ["declare", "--help", "list"]],
    ["declare list", ["--help", "declare", "list"]]
  ])("coffer %s: %j", async (command, args) => {
    const { code, stderr, stdout } = await home.coffer(args)
    assert.deepStrictEqual([code, stderr], [0, ""])
    assert.match(stdout, new RegExp(`^USAGE\n  coffer ${command}[ \\n]`))
  })

  it.each([
    ["coffer", ["help"]],
    ["coffer secret", ["help", "secret"]],
    ["coffer secret", ["secret", "--help"]],
    ["coffer secret", ["--help", "secret"]]
  ])("%s COMMAND: %j", async (group, args) => {
    const { code, stdout } = await home.coffer(args)
    assert.strictEqual(code, 0)
    assert.match(stdout, new RegExp(`^USAGE\\s+${group} COMMAND\\b`))
  })

  it.each([[["sercet", "--help"]], [["help", "sercet"]], [["secret", "gt", "--help"]]])(
    "%j names no command",
    async (args) => {
      const { code, stderr, stdout } = await home.coffer(args)
      assert.deepStrictEqual([code, stdout], [2, ""])
      assert.match(stderr, /^coffer: unknown command (sercet|gt) of coffer[a-z ]*; did you mean coffer secret( get)?\?/)
    }
  )

  it("belongs to the command of run from there on", async () => {
    const { stderr, stdout } = await home.coffer(["run", ...at, "--", "true", "--help"])
    assert.notInclude(stdout, "USAGE")
    assert.match(stderr, /there is no session/)
  })
})

it("coffer version and coffer --version print the same", async () => {
  const [word, option] = await Promise.all([home.coffer(["version"]), home.coffer(["--version"])])
  assert.deepStrictEqual(word, option)
  assert.match(word.stdout, /^\d+\.\d+\.\d+\n$/)
})
