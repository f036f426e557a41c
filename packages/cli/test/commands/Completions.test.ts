import { spawnSync } from "node:child_process"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { TestHome, finish } from "../support/Programs.js"

const home = new TestHome("http://127.0.0.1:9")

const has = (shell: string) => spawnSync(shell, ["-c", "exit 0"]).status === 0

/** A person at zsh: types each line, presses tab, and tells what the line is then. */
const atPrompt = String.raw`
import os, pty, select, sys, time
pid, fd = pty.fork()
if pid == 0: os.execvpe("zsh", ["zsh", "-f", "-i"], {**os.environ, "TERM": "dumb"})
out = b""
def until(text, seconds=15):
    global out
    end = time.time() + seconds
    while text not in out:
        if time.time() > end: sys.exit("waited in vain for %r in %r" % (text, out))
        if select.select([fd], [], [], 0.05)[0]: out += os.read(fd, 65536)
    seen, out = out.split(text, 1)
    return seen
def type(text): os.write(fd, text.encode())
type("PS1=; autoload -Uz compinit; compinit -D -u; source ./coffer.zsh; echo up$((1 + 1))\n"); until(b"up2")
type("show() { print -r -- \"<<$BUFFER>>\"; BUFFER= }; zle -N show; bindkey '^X' show; echo up$((1 + 2))\n"); until(b"up3")
for line in sys.argv[1:]:
    type(line + "\t\x18")
    print(until(b">>").decode().rsplit("<<", 1)[1])
`

/** What has been typed when the tab key is pressed, and what can come next; nothing where files can. */
const cases: ReadonlyArray<readonly [typed: string, offered: ReadonlyArray<string>]> = [
  ["coffer serv", ["service-account"]],
  ["coffer service-account ro", ["rotate"]],
  ["coffer env ", ["list", "create", "delete", "diff", "copy", "revisions", "revert"]],
  ["coffer master-key ", ["rotate"]],
  ["coffer secret set --if", ["--if-version"]],
  ["coffer login --em", ["--email"]],
  ["coffer run --offline-", ["--offline-fallback", "--offline-max-age"]],
  ["coffer acl grant --permission ", ["read", "write", "admin"]],
  ["coffer secret export --format ", ["env", "shell", "docker", "json", "yaml"]],
  ["coffer completions ", ["bash", "zsh", "fish"]],
  ["coffer secret import ", []],
  ["coffer secret set KEY --file ", []]
]

beforeAll(async () => {
  for (const shell of ["bash", "zsh", "fish"]) {
    const { code, stderr, stdout } = await home.coffer(["completions", shell])
    assert.strictEqual(code, 0, stderr)
    writeFileSync(join(home.folder, `coffer.${shell}`), stdout)
  }
})

afterAll(() => home.remove())

/** What each case is offered: a line of words for each. */
const offered = async (shell: string, options: ReadonlyArray<string>, script: ReadonlyArray<string>) => {
  writeFileSync(join(home.folder, "script"), script.join("\n"))
  const { code, stderr, stdout } = await finish(home.spawn(shell, [...options, "script"]))
  assert.deepStrictEqual([code, stderr], [0, ""])
  const lines = stdout.split("\n")
  cases.forEach(([typed, words], at) => {
    const line = lines[at] ?? "nothing at all"
    assert.sameMembers(
      line.split(" ").filter((word) => word !== ""),
      [...words],
      typed
    )
  })
}

describe("the tab key", () => {
  it.skipIf(!has("bash"))("completes commands, options and their values in bash", () =>
    offered(
      "bash",
      ["--norc"],
      [
        ". ./coffer.bash",
        '[[ "$(complete -p coffer)" == "complete -o default -F _coffer coffer" ]] || exit 1',
        'try() { COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMPREPLY=(); _coffer; echo "${COMPREPLY[*]}"; }',
        ...cases.map(([typed]) => `try ${typed.endsWith(" ") ? `${typed}""` : typed}`)
      ]
    )
  )

  it.skipIf(!has("fish"))("completes commands, options and their values in fish", () =>
    offered(
      "fish",
      ["--no-config"],
      [
        // Files are what is offered besides.
        "mkdir empty; cd empty; source ../coffer.fish",
        ...cases.map(([typed]) => `echo (complete -C '${typed}' | string replace -r '\\t.*' '')`)
      ]
    )
  )

  it.skipIf(!has("zsh"))("completes commands, options, their values and files in zsh", async () => {
    const lines = [
      ["coffer serv", "coffer service-account "],
      ["coffer service-account ro", "coffer service-account rotate "],
      ["coffer master-key ro", "coffer master-key rotate "],
      ["coffer secret set --if", "coffer secret set --if-version "],
      ["coffer acl grant --permission ad", "coffer acl grant --permission admin "],
      ["coffer completions zs", "coffer completions zsh "],
      ["coffer secret import coffer.ba", "coffer secret import coffer.bash "]
    ]
    const typed = lines.map(([line = ""]) => line)
    const { stderr, stdout } = await finish(home.spawn("python3", ["-c", atPrompt, ...typed]))
    assert.strictEqual(stderr, "")
    assert.deepStrictEqual(
      stdout.split("\n").slice(0, -1),
      lines.map(([, line]) => line)
    )
  })
})
