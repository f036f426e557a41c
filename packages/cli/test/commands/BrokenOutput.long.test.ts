import { assert, beforeAll, describe, it } from "vitest"
import { finish, node } from "../support/Programs.js"
import { client } from "../support/Terminal.js"
import { workplace } from "../support/Workplace.js"

const place = workplace()

const commands = [
  "--help",
  "--version",
  "version",
  "help secret set",
  "run --help",
  "completions bash",
  "health",
  "whoami",
  "doctor",
  "org list",
  "org get --json",
  "member list",
  "project list",
  "env list",
  "env revisions",
  "env diff dev prod",
  "secret list",
  "secret list --all-envs",
  "secret list --json",
  "secret get KEY",
  "secret get KEY LONG --format json",
  "secret versions KEY",
  "secret export",
  "secret set KEY again",
  "session list",
  "audit list"
]

/** Runs a command with a standard output that bash makes. */
const withOutput = async (output: string, command: string) => {
  const script = `${output}; ${node} ${client} ${command} >&3`
  const { code, stderr, stdout } = await finish(place.home.spawn("bash", ["-c", script]))
  assert.strictEqual(stdout, "")
  return { code, stderr }
}

describe("a command whose output breaks", () => {
  beforeAll(async () => {
    await place.ok("secret", "set", "KEY", "value")
    await place.ok("secret", "set", "LONG", "x".repeat(60_000))
  })

  it.each(commands)("ends quietly when its reader is gone: %s", async (command) => {
    assert.deepStrictEqual(await withOutput("exec 3> >(exit 0); wait $!", command), { code: 141, stderr: "" })
  })

  it.each(commands)("says so when the disk is full: %s", async (command) => {
    const { code, stderr } = await withOutput("exec 3> /dev/full", command)
    assert.strictEqual(code, 1)
    const said = command.endsWith("--json") ? `coffer: ${JSON.parse(stderr).error.message}\n` : stderr
    assert.match(said, /^coffer: standard output cannot be written to(, and may be incomplete: the disk is full)?\n$/)
  })

  it("ends quietly when its reader takes the first line alone", async () => {
    const script = `set -o pipefail; ${node} ${client} secret export | head -n 1 | wc -l; echo "$\{PIPESTATUS[0]}"`
    const { stderr, stdout } = await finish(place.home.spawn("bash", ["-c", script]))
    assert.strictEqual(stderr, "")
    assert.match(stdout, /^1\n(0|141)\n$/)
  })
})
