import type { Exchange } from "@coffer/client/internal/Exchange"
import {
  type NameList,
  type NamePath,
  orgList,
  type OrgListKind,
  placeList,
  readNames,
  targetList
} from "@coffer/client/internal/NameList"
import type { ServerUrl } from "@coffer/client/internal/ServerUrl"
import * as Effect from "effect/Effect"
import { NotThere, withoutEnd } from "../base/Failures.js"
import { ofOlderServer } from "../base/OlderServer.js"
import { nearest } from "./Words.js"

/** The names above a place of each depth, as options for the next command. */
const placeOption = ["", "--org", "--project", "--env"] as const

interface Thing {
  /** The message of the server, with the names that the next step needs. */
  readonly form: RegExp
  /** How many names say where it was looked for: organization, project, environment. */
  readonly depth: 0 | 1 | 2 | 3
  /** The command that shows what exists, without its place. */
  readonly list: (found: RegExpExecArray) => string
  /** Whether the command takes its place as an argument. */
  readonly isPlaced?: true
  readonly shows?: string
  /** The list of the names one of which may be meant. */
  readonly names?: (path: NamePath) => NameList
}

const inOrg =
  (kind: OrgListKind) =>
  ([org = ""]: NamePath): NameList =>
    orgList(kind, org)

const isPlaced = true
const plainly = (list: string) => () => list

/** The kinds of items that can be missing. The first form that fits decides. */
export const things: ReadonlyArray<Thing> = [
  { form: /^removed organization /, depth: 0, list: plainly("coffer org list --removed") },
  { form: /^removed project /, depth: 1, list: plainly("coffer project list --removed") },
  { form: /^removed environment /, depth: 2, list: plainly("coffer env list --removed"), isPlaced },
  { form: /^organization (\S+) /, depth: 0, list: plainly("coffer org list"), names: placeList },
  { form: /^project (\S+) /, depth: 1, list: plainly("coffer project list"), names: placeList },
  { form: /^environment (?:\S+\/)?([^\s/]+) /, depth: 2, list: plainly("coffer env list"), isPlaced, names: placeList },
  { form: /^version \S+ of secret (\S+) /, depth: 3, list: ([, key]) => `coffer secret versions ${key}` },
  { form: /^revision /, depth: 3, list: plainly("coffer env revisions"), isPlaced },
  {
    form: /^secret (\S+) is removed/,
    depth: 3,
    list: ([, key]) => `coffer secret undelete ${key}`,
    shows: "brings it back"
  },
  {
    form: /^secret (\S+) was never removed/,
    depth: 3,
    list: plainly("coffer secret list --removed"),
    isPlaced,
    shows: "shows what can be brought back"
  },
  { form: /^secret (\S+) /, depth: 3, list: plainly("coffer secret list"), isPlaced, names: placeList },
  { form: /^key /, depth: 2, list: plainly("coffer declare list"), isPlaced },
  { form: /^(\S+@\S+) is not a member /, depth: 1, list: plainly("coffer member list"), names: inOrg("member") },
  { form: /^member | is not a member /, depth: 1, list: plainly("coffer member list") },
  { form: /^service account (\S+) /, depth: 1, list: plainly("coffer service-account list"), names: inOrg("account") },
  { form: /^federation /, depth: 1, list: plainly("coffer service-account trust list ACCOUNT") },
  { form: /^access rule /, depth: 1, list: plainly("coffer acl list") },
  { form: /^use rule /, depth: 3, list: plainly("coffer use list KEY") },
  { form: /^approval /, depth: 1, list: plainly("coffer request list") },
  { form: /^request /, depth: 1, list: plainly("coffer request list") },
  {
    form: /^the protection of environment (\S+) /,
    depth: 2,
    list: ([, name]) => `coffer env protect ${name}`,
    shows: "makes one"
  },
  { form: /^group (\S+) /, depth: 1, list: plainly("coffer group list"), names: inOrg("group") },
  { form: /^connection /, depth: 3, list: plainly("coffer connection list"), isPlaced },
  { form: /^rotation /, depth: 3, list: plainly("coffer rotation list"), isPlaced },
  { form: /^role /, depth: 3, list: plainly("coffer role list"), isPlaced },
  { form: /^lease /, depth: 3, list: plainly("coffer lease list"), isPlaced },
  { form: /^target (\S+) /, depth: 3, list: plainly("coffer target list"), isPlaced, names: targetList },
  { form: /^webhook /, depth: 1, list: plainly("coffer webhook list") },
  { form: /^delivery /, depth: 1, list: plainly("coffer webhook deliveries ID") },
  { form: /^user /, depth: 0, list: plainly("coffer user list") },
  { form: /^passkey /, depth: 0, list: plainly("coffer passkey list") },
  { form: /^session /, depth: 0, list: plainly("coffer session list") },
  { form: /^backup /, depth: 0, list: plainly("coffer backup list") }
]

/** Where a command works, as far as it has a place. */
export interface PlacePath {
  readonly org_name?: string
  readonly project_name?: string
  readonly env_name?: string
}

/** The name that was probably meant. A list that cannot be read suggests none. */
const suggestionFor = (exchange: Exchange, list: NameList, name: string) =>
  readNames(exchange, list).pipe(
    Effect.timeout("3 seconds"),
    Effect.map((names) => nearest(names, name)),
    Effect.orElseSucceed(() => undefined)
  )

/**
 * Fails with an explanation of a NOT_FOUND of the server: where it was looked for, a name that is nearly the same, and the command that shows what
 * exists there. It is looked up with the credential of the call: no other must take its place.
 *
 * @param options that the next command needs too, such as `--server-url`
 */
export const explainMissing = Effect.fnUntraced(function* (
  { message }: { readonly message: string },
  { exchange, server }: { readonly exchange: Exchange; readonly server: ServerUrl },
  { env_name, org_name, project_name }: PlacePath,
  options: ReadonlyArray<string> = []
): Effect.fn.Return<never, NotThere> {
  const older = ofOlderServer({ _tag: "NotFound", message })
  if (older !== undefined) return yield* new NotThere({ message: older })
  const said = withoutEnd(message)
  const thing = things.find(({ form }) => form.test(said))
  const names = [org_name, project_name, env_name].filter((name) => name !== undefined)
  if (thing === undefined || names.length < thing.depth) {
    return yield* new NotThere({
      message: `${said}; see what exists with coffer org, project, environment or secret list`
    })
  }
  const { depth, form, isPlaced = false, list, names: listed, shows = "shows what exists" } = thing
  const found = form.exec(said)
  const path = names.slice(0, depth)
  const place = path.join("/")
  const [, name = ""] = found ?? []
  const meant = listed === undefined ? undefined : yield* suggestionFor(exchange, listed(path), name)
  const next = [
    found === null ? "" : list(found),
    ...(depth === 0 ? [] : isPlaced ? [place] : [placeOption[depth], place]),
    ...options
  ].join(" ")
  const question = meant === undefined || meant === name ? "" : `; did you mean ${meant}?`
  const where = depth === 0 ? server.base : place
  return yield* new NotThere({ message: `${where}: ${said}${question === "" ? ";" : question} ${next} ${shows}` })
})
