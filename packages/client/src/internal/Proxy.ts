import * as Data from "effect/Data"
import * as Either from "effect/Either"
import type { BlockList } from "node:net"
import { isLocal, type ServerUrl } from "./ServerUrl.js"

type Environment = Readonly<Record<string, string | undefined>>

/** A proxy variable that cannot be followed. The message names the variable, but not its text, which may hold a password. */
export class BadProxy extends Data.TaggedError("BadProxy")<{
  readonly variable: string
  readonly message: string
}> {}

/** Whether Node can use proxies: from 22.21 and 24.5. */
export const obeysProxy = ({ node }: { readonly node: string }): boolean => {
  const [major = 0, minor = 0] = node.split(".").map(Number)
  return (major === 22 && minor >= 21) || (major === 24 && minor >= 5) || major > 24
}

const firstSet = (env: Environment, names: ReadonlyArray<string>) => {
  const name = names.find((each) => (env[each] ?? "") !== "")
  return name === undefined ? undefined : { name, text: env[name] ?? "" }
}

const familyOf = (address: string): "ipv4" | "ipv6" | undefined => {
  const family = process.getBuiltinModule("node:net").isIP(address)
  return family === 0 ? undefined : family === 4 ? "ipv4" : "ipv6"
}

const withoutBrackets = (host: string) => host.replace(/^\[(.*)\]$/, "$1")

/** Adds `10.0.0.0/8` or `10.0.0.1-10.0.0.9` to a list. Returns whether the text is neither. */
const addRange = (list: BlockList, text: string): boolean => {
  const [, address = "", bits] = /^(.*)\/([0-9]{1,3})$/.exec(text) ?? []
  const [, first = "", last = ""] = /^(.*)-(.*)$/.exec(text) ?? []
  const family = familyOf(withoutBrackets(address))
  if (family !== undefined && Number(bits) <= (family === "ipv4" ? 32 : 128)) {
    list.addSubnet(withoutBrackets(address), Number(bits), family)
    return true
  }
  const ends = familyOf(first)
  if (ends === undefined || familyOf(last) !== ends) return false
  list.addRange(first, last, ends)
  return true
}

/** Whether a name is that of an entry or below it. */
const isBelow = (host: string, entry: string) => host === entry || host.endsWith(`.${entry}`)

/**
 * Whether `NO_PROXY` names the host, as curl reads it: names with all names below them, also with `.` or `*.` in front, addresses,
 * ranges of addresses, and `*`. A port limits an entry.
 */
const isExcepted = (text: string, { hostname, port, protocol }: URL): Either.Either<boolean, string> => {
  const host = withoutBrackets(hostname).replace(/\.$/, "")
  const family = familyOf(host)
  const ranges = new (process.getBuiltinModule("node:net").BlockList)()
  let isNamed = false
  for (const entry of text.toLowerCase().split(/[\s,]+/)) {
    if (entry === "") continue
    if (entry.includes("/")) {
      if (!addRange(ranges, entry)) return Either.left(entry)
      continue
    }
    const [, name = entry, only] = /^(.*?[^:]|\[.*\]):([0-9]{1,5})$/.exec(entry) ?? []
    const isPort =
      only === undefined || familyOf(entry) === "ipv6" || only === (port || (protocol === "https:" ? "443" : "80"))
    const wanted = withoutBrackets(familyOf(entry) === "ipv6" ? entry : name)
    const isRange = wanted.includes("-") && addRange(ranges, wanted)
    if (isRange || !isPort) continue
    const below = wanted.replace(/^\*?\./, "").replace(/\.$/, "")
    isNamed ||= wanted === "*" || (family === undefined ? isBelow(host, below) : host === wanted)
  }
  return Either.right(isNamed || (family !== undefined && ranges.check(host, family)))
}

/** The address of a proxy: a URL, or `host:port`. */
const parseProxy = (name: string, text: string): Either.Either<URL, BadProxy> => {
  const refuse = (problem: string) => Either.left(new BadProxy({ variable: name, message: `${name} ${problem}` }))
  const address = /^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `http://${text}`
  if (!URL.canParse(address)) return refuse("is not the address of a proxy, such as http://proxy:3128")
  const url = new URL(address)
  return url.protocol === "http:" || url.protocol === "https:"
    ? Either.right(url)
    : refuse("names a proxy that is neither http:// nor https://, and no other kind can be used")
}

const proxySetting = ({ secure }: Pick<ServerUrl, "secure">, env: Environment) =>
  firstSet(env, secure ? ["https_proxy", "HTTPS_PROXY"] : ["http_proxy", "HTTP_PROXY"])

/** The variable that names a proxy for servers such as this one. */
export const proxyVariable = (server: ServerUrl, env: Environment): string | undefined =>
  proxySetting(server, env)?.name

/** The proxy for an address: none for this machine, and for hosts of `NO_PROXY`. */
export const proxyOf = (url: URL, env: Environment): Either.Either<URL | undefined, BadProxy> => {
  const found = proxySetting({ secure: url.protocol === "https:" }, env)
  if (found === undefined || isLocal(url.hostname)) return Either.right(undefined)
  const except = firstSet(env, ["no_proxy", "NO_PROXY"])
  return Either.gen(function* () {
    const isDirect = yield* Either.mapLeft(
      isExcepted(except?.text ?? "", url),
      (entry) =>
        new BadProxy({
          variable: except?.name ?? "NO_PROXY",
          message: `${except?.name ?? ""}: ${entry} is not a range of addresses, such as 10.0.0.0/8`
        })
    )
    return isDirect ? undefined : yield* parseProxy(found.name, found.text)
  })
}

/** The proxy for a server. */
export const proxyFor = ({ base }: ServerUrl, env: Environment): Either.Either<URL | undefined, BadProxy> =>
  proxyOf(new URL(base), env)
