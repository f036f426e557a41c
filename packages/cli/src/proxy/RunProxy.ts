import { writeProblem } from "@coffer/client/internal/FileError"
import { proxyOf } from "@coffer/client/internal/Proxy"
import { Variables } from "@coffer/client/internal/Variables"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { CannotDo, exitCodes } from "../base/Failures.js"
import type { Call } from "../grammar/Command.js"
import type { Exchange } from "@coffer/client/internal/Exchange"
import type { EnvPath } from "@coffer/domain/api/Paths"
import { findExecutable } from "../run/Executable.js"
import { catchSignals, endAs, type Signals } from "../run/Signals.js"
import { startBeside } from "../run/Start.js"
import { makePrivateFolder, removePrivateFolder } from "../terminal/PrivateFolder.js"
import { note, write } from "../terminal/Print.js"
import { makeAuthority } from "./Authority.js"
import { type BaseUrl, commandEnvironment, proxyVariables } from "./ProxyEnvironment.js"
import { currentRules, readRules } from "./ProxyRules.js"
import { listen } from "./ProxyServer.js"
import { finderOf, makeStandIns } from "./StandIns.js"
import { bundleOf } from "./TrustedCertificates.js"
import { makeUse } from "./UseCalls.js"

export interface ProxyRun {
  readonly call: Call
  readonly exchange: Exchange
  readonly path: EnvPath
  readonly baseUrls: ReadonlyArray<BaseUrl>
  readonly onlyRules: boolean
  /** Empty: the variables are printed, and the proxy runs until it is ended. */
  readonly command: ReadonlyArray<string>
}

/** Writes the certificates to trust to a file of this user's, which ends with the run. */
const bundleFile = (text: string) =>
  Effect.gen(function* () {
    const folder = yield* Effect.acquireRelease(makePrivateFolder("proxy"), (made) =>
      Effect.sync(() => removePrivateFolder(made))
    )
    const remove = () => removePrivateFolder(folder)
    // The process may end without ending this effect.
    process.once("exit", remove)
    const file = join(folder, "certificates.pem")
    yield* Effect.try({
      try: () => writeFileSync(file, text, { mode: 0o600, flag: "wx" }),
      catch: (cause) => new CannotDo({ message: `the certificates cannot be written: ${writeProblem(cause)}` })
    })
    return file
  })

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`

const waitForSignal = (signals: Signals) => Effect.async<void>((resume) => signals.giveTo(() => resume(Effect.void)))

const started = (command: string, path: string | undefined) => {
  const found = findExecutable(command, path)
  if (found.type === "found") return Effect.succeed(found)
  return new CannotDo({
    message:
      found.type === "not_found"
        ? `${command}: there is no such command`
        : `${command} cannot be executed: ${found.problem}`
  })
}

/** Runs the proxy beside a command, or until it is ended. Returns how the command ended. */
export const runProxy = ({ baseUrls, call, command, exchange, onlyRules, path }: ProxyRun) =>
  Effect.gen(function* () {
    const first = yield* readRules(call, path)
    if (first.length === 0) {
      const place = `${path.org_name}/${path.project_name}/${path.env_name}`
      return yield* new CannotDo({
        message: `no use rule of ${place} names you: ask an admin for one, made with coffer use allow`
      })
    }
    const hosts = new Set(first.flatMap((rule) => rule.hosts))
    const strange = baseUrls.find(({ target }) => !hosts.has(target.split("/")[0] ?? ""))
    if (strange !== undefined) {
      return yield* new CannotDo({
        message: `--base-url ${strange.variable}: no use rule of yours names the host ${strange.target.split("/")[0] ?? ""}; coffer use list shows them`
      })
    }
    const inherited = yield* Variables
    const standIns = makeStandIns(new Set<string>(first.map(({ key }) => key)))
    const names = [...new Set([...hosts].map((host) => host.split(":")[0] ?? host))]
    const authority = makeAuthority(names, yield* Clock.currentTimeMillis)
    const bundle = yield* bundleFile(bundleOf(authority.certificate, inherited))
    const { port, secret } = yield* listen({
      rules: yield* currentRules(call, path, first),
      find: finderOf(standIns),
      use: (wanted, response) => makeUse(exchange, path, wanted, response),
      authority,
      hosts,
      onlyRules,
      proxyOf: (url) => proxyOf(url, inherited)
    })
    const { leftOut, set } = proxyVariables({ standIns, baseUrls, port, secret, bundle, hosts, onlyRules }, inherited)
    if (leftOut.length > 0)
      yield* note(`no variable is set for ${leftOut.join(", ")}, whose names programs may run or cannot read`)
    const signals = catchSignals()
    const [name, ...args] = command
    if (name === undefined) {
      yield* write([...set].map(([variable, text]) => `export ${variable}=${quoted(text)}\n`).join(""))
      yield* note("the proxy runs until this command is ended, as with ctrl-C")
      yield* waitForSignal(signals)
      return { type: "exit", code: exitCodes.done } as const
    }
    const env = commandEnvironment(inherited, set)
    const { forShell, path: program, sure } = yield* started(name, env["PATH"])
    const child = yield* startBeside({
      path: program,
      command: name,
      args,
      env,
      forShell,
      sure,
      mask: undefined,
      isCleanedUp: true,
      descriptors: []
    })
    signals.giveTo(child.forward)
    return yield* child.ended
  }).pipe(
    Effect.scoped,
    Effect.catchTag("NotStarted", ({ message }) => new CannotDo({ message })),
    // Nothing of the run is left by now.
    Effect.tap((outcome) => Effect.sync(() => endAs(outcome)))
  )
