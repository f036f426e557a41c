import { spawnSync } from "node:child_process"
import { chmodSync, mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, type TestContext } from "vitest"
import { finish, node, type RunOptions, type TestHome } from "./Programs.js"
import { atPty } from "./Pty.js"
import { client } from "./Terminal.js"

/** Skips a test where a shell is not installed. */
export const needs = (context: TestContext, shell: string): void =>
  context.skip(spawnSync(shell, ["-c", "exit 0"]).status !== 0, `${shell} is not installed`)

/** A person at zsh: types each line, presses tab, and tells what the line is then. */
const atPrompt = String.raw`${atPty(["zsh", "-f", "-i"], '{"TERM": "dumb"}')}
type("PS1=; autoload -Uz compinit; compinit -D -u; source ./coffer.zsh; echo up$((1 + 1))\n"); until(b"up2")
type("show() { print -r -- \"<<$BUFFER>>\"; BUFFER= }; zle -N show; bindkey '^X' show; echo up$((1 + 2))\n"); until(b"up3")
for line in sys.argv[1:]:
    type(line + "\t\x18")
    print(until(b">>").decode().rsplit("<<", 1)[1])
`

/** The text before the tab key is pressed, and the words that can come next; no words where files can. */
export type Case = readonly [typed: string, offered: ReadonlyArray<string>]

/** Writes the completion scripts to a home, and puts the client in its path. */
export const writeScripts = async (home: TestHome): Promise<void> => {
  mkdirSync(join(home.folder, "bin"))
  writeFileSync(join(home.folder, "bin/coffer"), `#!/bin/sh\nexec ${node} ${client} "$@"\n`)
  chmodSync(join(home.folder, "bin/coffer"), 0o755)
  for (const shell of ["bash", "zsh", "fish"]) {
    const { code, stderr, stdout } = await home.coffer(["completions", shell])
    assert.strictEqual(code, 0, stderr)
    writeFileSync(join(home.folder, `coffer.${shell}`), stdout)
  }
}

const withClient = (home: TestHome, options: RunOptions): RunOptions => ({
  ...options,
  env: { PATH: `${home.folder}/bin:${home.environment["PATH"] ?? ""}`, ...options.env }
})

const runScript = async (
  home: TestHome,
  shell: string,
  flags: ReadonlyArray<string>,
  script: ReadonlyArray<string>,
  options: RunOptions
) => {
  writeFileSync(join(home.folder, "script"), script.join("\n"))
  const child = home.spawn(shell, [...flags, join(home.folder, "script")], withClient(home, options))
  const { code, stderr, stdout } = await finish(child)
  assert.deepStrictEqual([code, stderr], [0, ""])
  return stdout.split("\n").map((line) => line.split(" ").filter((word) => word !== ""))
}

/** A word of a command line in quotes, so that bash expands nothing of it. */
const quoted = (word: string) => `'${word.replaceAll("'", String.raw`'\''`)}'`

/** Splits what was typed into words as readline does, which makes words of `=` and `:`. */
const wordsOf = (typed: string) => typed.split(" ").flatMap((word) => (word === "" ? [""] : word.split(/([=:]+)/)))

/** Returns the completions that bash offers for each line that is typed. */
export const offersOfBash = (home: TestHome, typed: ReadonlyArray<string>, options: RunOptions = {}) =>
  runScript(
    home,
    "bash",
    ["--norc"],
    [
      `. ${home.folder}/coffer.bash`,
      '[[ "$(complete -p coffer)" == "complete -o default -F _coffer coffer" ]] || exit 1',
      'try() { COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMPREPLY=(); _coffer; echo "${COMPREPLY[*]}"; }',
      ...typed.map((line) => `try ${wordsOf(line).map(quoted).join(" ")}`)
    ],
    options
  )

/** Returns the completions that fish offers for each line that is typed, in a folder without files. */
export const offersOfFish = (home: TestHome, typed: ReadonlyArray<string>, options: RunOptions = {}) =>
  runScript(
    home,
    "fish",
    ["--no-config"],
    [
      `mkdir -p ${home.folder}/.git ${home.folder}/empty; cd ${home.folder}/empty; source ${home.folder}/coffer.fish`,
      ...typed.map((line) => `echo (complete -C ${quoted(line)} | string replace -r '\\t.*' '')`)
    ],
    options
  )

/** Compares what each line is in zsh after the tab key with what it should be. */
export const assertLinesOfZsh = async (
  home: TestHome,
  lines: ReadonlyArray<readonly [typed: string, completed: string]>
): Promise<void> => {
  const typed = lines.map(([line]) => line)
  const { stderr, stdout } = await finish(home.spawn("python3", ["-c", atPrompt, ...typed], withClient(home, {})))
  assert.strictEqual(stderr, "")
  assert.deepStrictEqual(
    stdout.split("\n").slice(0, -1),
    lines.map(([, line]) => line)
  )
}

/** Compares what each line was offered with what it should be, in any order. */
export const assertOffers = (cases: ReadonlyArray<Case>, found: ReadonlyArray<ReadonlyArray<string>>): void =>
  cases.forEach(([typed, words], index) => assert.sameMembers([...(found[index] ?? ["nothing"])], [...words], typed))
