import { loadSettings, type Settings } from "@coffer/client/internal/Settings"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import { CannotDo } from "../../base/Failures.js"
import { command, env, json, org, project, serverUrl } from "../../grammar/Command.js"
import { placeGiven, placeProblem, refuse } from "../../grammar/Place.js"
import { inPlace, optionalPlace } from "../../grammar/PlaceForm.js"
import { printTable } from "../../terminal/Print.js"
import { printView, type View } from "../../terminal/View.js"
import { checkAccount, checkDelegations } from "./AccountChecks.js"
import { checkCertificate } from "./Certificate.js"
import { checkConsole } from "./ConsoleCheck.js"
import { failed, type Finding, warning } from "./Finding.js"
import { checkClient, checkFiles, checkHeaders, checkServiceFile, checkSettings } from "./LocalChecks.js"
import { checkProxy, proxyFailure, usedProxy } from "./ProxyCheck.js"
import { checkServer } from "./ServerChecks.js"

/** The checks that need a server. Without a connection, the others say nothing. */
const checkRemote = Effect.fnUntraced(function* (settings: Settings) {
  const server = yield* Effect.either(settings.server)
  if (Either.isLeft(server)) return []
  const url = server.right
  const found = yield* Effect.either(checkServer(url))
  const refusal = Either.isLeft(found) ? proxyFailure(found.left) : undefined
  const proxy = yield* checkProxy(url, refusal)
  const headers = yield* checkHeaders(url)
  if (refusal !== undefined) return [proxy, headers, warning("connection", "no request reached the server: see proxy")]
  const before = [proxy, headers, yield* checkCertificate(url, yield* usedProxy(url))]
  if (Either.isLeft(found)) return [...before, failed("connection", found.left)]
  const path = yield* Effect.option(settings.envPath)
  return [
    ...before,
    ...found.right,
    yield* checkConsole(url),
    ...(yield* checkAccount(url, path)),
    ...(yield* checkDelegations(url, path))
  ]
})

const view = (findings: ReadonlyArray<Finding>): View => ({
  json: { data: findings },
  text: printTable(
    ["state", "check", "finding"],
    findings.map(({ check, message, state }) => [state, check, message])
  )
})

export const doctorCommand = command("doctor", {
  description: "Check settings, server, clock, credential and rights, and say where each setting comes from",
  examples: ["coffer doctor", "coffer doctor acme/webshop/prod", "coffer doctor --json"],
  options: { place: optionalPlace, serverUrl, org, project, env, json },
  run: (options) =>
    Effect.gen(function* () {
      yield* refuse(placeProblem(options, inPlace(options)))
      const given = yield* placeGiven({ ...options, ...inPlace(options) })
      const loaded = yield* Effect.either(loadSettings(given))
      const local = [yield* checkClient, ...(yield* checkFiles)]
      const rest = Either.isLeft(loaded)
        ? [failed("service.yml", loaded.left)]
        : [
            yield* checkServiceFile(loaded.right),
            ...(yield* checkSettings(loaded.right)),
            ...(yield* checkRemote(loaded.right))
          ]
      const findings = [...local, ...rest]
      yield* printView(view(findings), options.json)
      const problems = findings.filter(({ state }) => state === "problem").length
      if (problems > 0) {
        return yield* new CannotDo({ message: `doctor found ${problems === 1 ? "a problem" : `${problems} problems`}` })
      }
    })
})
