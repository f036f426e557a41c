/**
 * The step of the action. It starts `coffer run`, which signs in, reads the secrets once and leaves out what it always leaves
 * out: with the script of the input `run`, or with this program again, which hands the secrets to the runner.
 */
import { spawn } from "node:child_process"
import { randomBytes } from "node:crypto"
import { appendFileSync } from "node:fs"
import { text } from "node:stream/consumers"
import { fileURLToPath } from "node:url"

/** The variables of the job's environment that the client needs when it runs for the runner alone. */
const needed =
  /^(?:PATH|HOME|TMPDIR|TEMP|TMP|SystemRoot|XDG_\w+|SERVICE_\w+|GITHUB_ACTIONS|ACTIONS_ID_TOKEN_REQUEST_\w+|NODE_EXTRA_CA_CERTS|SSL_CERT_\w+|(?:HTTPS?|NO)_PROXY)$/i

const inputOf = (name) => process.env[`COFFER_ACTION_${name}`] ?? ""

const settings = () => {
  const given = { SERVICE_SERVER_URL: inputOf("SERVER_URL"), SERVICE_ACCOUNT: inputOf("ACCOUNT") }
  const chosen = Object.entries(given).filter(([, value]) => value !== "")
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith("COFFER_ACTION_"))
  return Object.fromEntries([...inherited, ...chosen])
}

/** Runs the client to its end, and ends as it does. */
const coffer = (options, command, env, input) => {
  const [only, place] = [inputOf("ONLY"), inputOf("PLACE")]
  const words = ["run", ...options, ...(only === "" ? [] : ["--only", only]), ...(place === "" ? [] : [place])]
  const stdio = [input === undefined ? "ignore" : "pipe", "inherit", "inherit"]
  const child = spawn("coffer", [...words, "--", ...command], { env, stdio })
  child.on("error", ({ message }) => {
    process.stderr.write(`::error::the client does not start (${message}): install it in a step before\n`)
    process.exitCode = 127
  })
  child.on("close", (code) => {
    process.exitCode ??= code ?? 1
  })
  child.stdin?.on("error", () => {})
  child.stdin?.end(input)
}

const escaped = (line) => line.replaceAll("%", "%25")

/** One mask for each line: the runner looks for masks in each line of the log. */
const masksOf = (values) => {
  const lines = values.flatMap((value) => value.split(/[\r\n]+/))
  const texts = lines.flatMap((line) => [line, line.trim()]).filter((line) => line.trim() !== "")
  return [...new Set(texts)].map((line) => `::add-mask::${escaped(line)}\n`).join("")
}

const assignment = ([name, value]) => {
  const delimiter = `coffer_${randomBytes(24).toString("hex")}`
  return `${name}<<${delimiter}\n${value}\n${delimiter}\n`
}

/** Variables by which the runner and its tools reach each other: a secret of such a name could lead them elsewhere. */
const isOfRunner = (name) => /^(?:GITHUB|RUNNER|ACTIONS|INPUT)_/i.test(name)

/** Hands over what the client has added to the environment. Masks come first. */
const handOver = async (file) => {
  const before = JSON.parse(await text(process.stdin))
  const added = Object.entries(process.env).filter(([name, value]) => before[name] !== value)
  const [secrets, leftOut] = [false, true].map((is) => added.filter(([name]) => isOfRunner(name) === is))
  await new Promise((resolve) => process.stdout.write(masksOf(secrets.map(([, value]) => value)), resolve))
  appendFileSync(file, secrets.map(assignment).join(""))
  for (const [name] of leftOut) process.stdout.write(`::warning::left out ${name}, which is a name of the runner\n`)
  process.stdout.write(`${secrets.length} secrets for the next steps: ${secrets.map(([name]) => name).join(", ")}\n`)
}

const [, , word, file] = process.argv
if (word === "hand-over") await handOver(file)
else if (inputOf("RUN") !== "") {
  coffer(["--mask"], ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", inputOf("RUN")], settings())
} else {
  const env = Object.fromEntries(Object.entries(settings()).filter(([name]) => needed.test(name)))
  const command = [process.execPath, fileURLToPath(import.meta.url), "hand-over", process.env.GITHUB_ENV ?? ""]
  coffer([], command, env, JSON.stringify(env))
}
