/** The output and the exit code of a run of a client. */
export interface Ran {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

export type Runner = (args: ReadonlyArray<string>) => Promise<Ran>

const ada = ["--email", "ada@example.com"]
const dev = ["--project-pattern", "*", "--env-pattern", "dev", "--permission", "read"]

/** Commands that people run, in words that 0.2.0 had. CODE is the mailed code, and FILE a file to import. */
const commands: ReadonlyArray<ReadonlyArray<string>> = [
  ["login", ...ada],
  ["login", ...ada, "--code", "CODE"],
  ["whoami", "--json"],
  ["org", "create", "acme"],
  ["project", "create", "webshop"],
  ["env", "list"],
  ["secret", "set", "A", "one"],
  ["secret", "set", "A", "two"],
  ["secret", "set", "LINK", "--expand", "<${A}>"],
  ["secret", "versions", "A"],
  ["secret", "rollback", "A", "--to", "1"],
  ["secret", "import", "FILE"],
  ["secret", "export", "--format", "json"],
  ["run", "--", "sh", "-c", 'echo "$A $LINK"'],
  ["env", "copy", "dev", "staging", "--yes"],
  ["env", "diff", "dev", "staging"],
  ["secret", "delete", "D", "--yes"],
  ["secret", "undelete", "D"],
  ["env", "revert", "--to", "3", "--yes"],
  ["secret", "destroy", "A", "--versions", "2", "--yes"],
  ["env", "revisions"],
  ["secret", "edit", "A", "--rotate-every", "90d"],
  ["declare", "A", "--required-in", "prod"],
  ["secret", "list"],
  ["member", "invite", "grace@example.com", "--role", "developer"],
  ["member", "list"],
  ["service-account", "create", "ci"],
  ["acl", "grant", "--service-account", "ci", ...dev],
  ["acl", "explain", "--service-account", "ci"],
  ["webhook", "create", "https://hooks.invalid/x", "--event", "secret.*"],
  ["webhook", "list"],
  ["audit", "list", "--limit", "3"],
  ["audit", "verify"]
]

type NewCommands = ReadonlyArray<readonly [says: RegExp, ...ReadonlyArray<ReadonlyArray<string>>]>

/** Commands that servers of a release do not support yet, and the message of a newer client that explains that. */
export const newSince: Readonly<Record<string, NewCommands>> = {
  "0.2.0": [
    [
      /^coffer: the server does not have this call: update it if it is older than this client, else check its address\n$/,
      ["group", "list"],
      ["request", "list"],
      ["secret", "find", "A"],
      ["org", "overview"],
      ["org", "export", "list"],
      ["project", "history"],
      ["project", "previews"],
      ["env", "protection", "dev"],
      ["env", "extend", "dev", "--expires", "7d"],
      ["acl", "table", "--service-account", "ci"],
      ["delegate", "list"],
      ["passkey", "list"]
    ],
    [
      /^coffer: \w+: (?:is not a field of this call|has the wrong type or form); update the server if it is older than this client\n$/,
      ["env", "create", "pr-1", "--from", "dev", "--expires", "7d"],
      ["acl", "grant", "--service-account", "ci", ...dev, "--expires", "1h"],
      ["acl", "grant", "--group", "team", ...dev],
      ["service-account", "create", "net", "--network", "10.0.0.0/8"],
      ["webhook", "create", "https://hooks.invalid/z", "--event", "secret.*", "--format", "slack"]
    ]
  ]
}

/** Masks the differences between two runs, and the order of environments, which came by name in 0.2.0. */
const masked = ([first, second]: ReadonlyArray<string>, text: string): string => {
  const plain = text
    .replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{22}/g, "ID")
    .replaceAll(/svc_\w+/g, "KEY")
    .replaceAll(/[0-9a-f]{64}/g, "CHAIN")
    .replaceAll(/\d{4}-\d{2}-\d{2}(?:T[0-9:.]+Z)?/g, "TIME")
    .replaceAll(/127\.0\.0\.1:\d+/g, "SERVER")
    .replaceAll(/\d+ (?=entries)|(?<=--seq )\d+|(?<=of |after s)\d+/g, "N")
  return first === "env" && second === "list" ? plain.split("\n").sort().join("\n") : plain
}

export interface Seen extends Ran {
  readonly command: string
}

/** Runs the commands one after another, and returns what a person sees of them. */
export const walk = async (run: Runner, values: Readonly<Record<string, () => Promise<string>>>) => {
  const seen: Array<Seen> = []
  for (const args of commands) {
    const words = []
    for (const word of args) words.push((await values[word]?.()) ?? word)
    const { code, stderr, stdout } = await run(words)
    seen.push({ command: args.join(" "), code, stdout: masked(args, stdout), stderr: masked(args, stderr) })
  }
  return seen
}
