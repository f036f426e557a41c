import { connectTo } from "@coffer/client/internal/Connection"
import { credentialFor } from "@coffer/client/internal/ProgramCredential"
import {
  dependentIdList,
  federationList,
  idLists,
  isDependentIdKind,
  isIdListKind,
  isOrgListKind,
  type NamePath,
  type OrgListKind,
  orgList,
  placeList,
  readAccountId,
  readNames
} from "@coffer/client/internal/NameList"
import { loadSettings, type Settings } from "@coffer/client/internal/Settings"
import { orgNameForm } from "@coffer/domain/base/NameForms"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { Unfinished } from "../grammar/CompletionSyntax.js"
import { splitPaths } from "../grammar/PlacePath.js"
import { Version } from "../base/Version.js"
import { cached } from "./NameCache.js"

/** Candidates for a word, with the text before and after each. */
interface Source {
  /** Fails if a setting is missing. */
  readonly path: Effect.Effect<NamePath, unknown>
  readonly before: string
  readonly after: "" | "/"
}

const joined = (names: ReadonlyArray<string>) => names.map((name) => `${name}/`).join("")

/** The lists for a name that may stand behind those above it, the likeliest first. */
const pathSources = ({ kind, text }: Unfinished, { orgPath, projectPath }: Settings): ReadonlyArray<Source> => {
  const above = text.split("/").slice(0, -1)
  // Names of organizations, projects and environments have the same form.
  if (!above.every((name) => orgNameForm.is(name))) return []
  const inOrg = Effect.map(orgPath, ({ org_name }): NamePath => [org_name])
  const inProject = Effect.map(projectPath, ({ org_name, project_name }): NamePath => [org_name, project_name])
  const inNamed = (after: Source["after"]): Source => ({ path: Effect.succeed(above), before: joined(above), after })
  const here = (path: Effect.Effect<NamePath, unknown>, after: Source["after"]): Source => ({ path, before: "", after })
  const orgs = here(Effect.succeed([]), "/")

  if (kind === "project-path") {
    if (above.length === 0) return [here(inOrg, ""), orgs]
    return above.length === 1 ? [inNamed("")] : []
  }
  if (above.length === 0) return [...(kind === "place" ? [] : [here(inProject, "")]), here(inOrg, "/"), orgs]
  if (above.length === 2) return [inNamed("")]
  const inProjectNamed = Effect.map(inOrg, (org): NamePath => [...org, ...above])
  return above.length === 1 ? [{ path: inProjectNamed, before: joined(above), after: "" }, inNamed("/")] : []
}

const sourcesOf = (word: Unfinished, settings: Settings): ReadonlyArray<Source> => {
  const { kind, text } = word
  const only = (path: Effect.Effect<NamePath, unknown>, before = ""): ReadonlyArray<Source> => [
    { path, before, after: "" }
  ]
  const { envPath, orgPath, projectPath } = settings
  const inEnv = Effect.map(envPath, (path): NamePath => [path.org_name, path.project_name, path.env_name])
  switch (kind) {
    case "org":
      return only(Effect.succeed([]))
    case "project":
      return only(Effect.map(orgPath, ({ org_name }) => [org_name]))
    case "env":
      return only(Effect.map(projectPath, ({ org_name, project_name }) => [org_name, project_name]))
    case "key":
      return only(inEnv)
    case "keys":
      return only(inEnv, text.slice(0, text.lastIndexOf(",") + 1))
    default:
      return pathSources(word, settings)
  }
}

/** The characters of names, and of what joins them. Nothing else is written for a shell to read. */
const isPlain = (text: string) => /^[A-Za-z0-9_.,:/@+-]*$/.test(text)

/**
 * Returns the completions of a word from the server's lists of names. Values are not requested. The settings, the credential
 * and the servers that get it are those of every other command.
 */
export const offersFor = Effect.fnUntraced(function* (word: Unfinished) {
  const { given, others, text } = word
  if (!isPlain(text)) return []
  const settings = yield* loadSettings(yield* splitPaths(given))
  const server = yield* settings.server
  // Other commands warn of that. A warning cannot be seen here.
  if (!server.secure && !server.local) return []
  const credential = yield* credentialFor(server)
  const version = yield* Version
  const exchange = yield* connectTo({ server, credential: Option.some(credential), program: "cli", version })
  const matching = (names: ReadonlyArray<string>) =>
    names.filter((name) => name.startsWith(text) && !others.includes(name))
  if (word.kind === "who" || word.kind === "rule-or-who" || word.kind === "waiting") {
    const { org_name } = yield* settings.orgPath
    const namesOf = (kind: OrgListKind, before = "") => {
      const list = orgList(kind, org_name)
      return cached({ server, credential, list }, readNames(exchange, list)).pipe(
        Effect.map((names) => names.map((name) => before + name)),
        // Whoever may not list the groups may still list the people.
        Effect.orElseSucceed((): ReadonlyArray<string> => [])
      )
    }
    const lists =
      word.kind === "waiting"
        ? [namesOf("request"), namesOf("approval"), namesOf("export")]
        : [
            ...[namesOf("member"), namesOf("group", "group:"), namesOf("account", "account:")],
            ...(word.kind === "rule-or-who" ? [namesOf("rule")] : [])
          ]
    return matching((yield* Effect.all(lists, { concurrency: 4 })).flat())
  }
  if (isOrgListKind(word.kind)) {
    const { org_name } = yield* settings.orgPath
    const list = orgList(word.kind, org_name)
    return matching(yield* cached({ server, credential, list }, readNames(exchange, list)))
  }
  if (word.kind === "federation") {
    const { org_name } = yield* settings.orgPath
    const account = yield* readAccountId(exchange, org_name, others[0] ?? "")
    if (account === undefined) return []
    const list = federationList(org_name, account)
    return matching(yield* cached({ server, credential, list }, readNames(exchange, list)))
  }
  if (isIdListKind(word.kind)) {
    const list = idLists[word.kind]
    return matching(yield* cached({ server, credential, list }, readNames(exchange, list)))
  }
  if (isDependentIdKind(word.kind)) {
    const find = (name: "org" | "project" | "env") => settings.find(name)?.text
    const list = dependentIdList(word.kind, [find("org"), find("project"), find("env")], others[0])
    return list === undefined ? [] : matching(yield* cached({ server, credential, list }, readNames(exchange, list)))
  }
  const taken = new Set([...others, ...text.split(",").slice(0, -1)])
  for (const { after, before, path } of sourcesOf(word, settings)) {
    const names = yield* Effect.flatMap(path, (path) =>
      cached({ server, credential, list: placeList(path) }, readNames(exchange, placeList(path)))
    ).pipe(Effect.orElseSucceed((): ReadonlyArray<string> => []))
    const left = names.filter((name) => !taken.has(name))
    const offers = left.map((name) => before + name + after).filter((offer) => offer.startsWith(text))
    if (offers.length > 0) return offers
  }
  return []
})
