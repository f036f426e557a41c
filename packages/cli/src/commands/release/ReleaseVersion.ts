import * as Effect from "effect/Effect"
import { NotGenuine, type Sums } from "./Release.js"

/** A version of Semantic Versioning 2.0.0: what is compared, and the identifiers of a pre-release. */
interface Parsed {
  readonly numbers: ReadonlyArray<number>
  readonly preRelease: ReadonlyArray<string>
}

const number = "(0|[1-9][0-9]{0,8})"
const identifiers = "[0-9A-Za-z-]+(?:\\.[0-9A-Za-z-]+)*"
const form = `${number}\\.${number}\\.${number}(?:-(${identifiers}))?(?:\\+${identifiers})?`
const wholeVersion = new RegExp(`^${form}$`)

/** The package of the client: its name has the version of the release. */
const clientPackage = new RegExp(`^coffer-(${form})\\.tgz$`)

const parse = (version: string): Parsed | undefined => {
  const [, major, minor, patch, preRelease] = wholeVersion.exec(version) ?? []
  return major === undefined
    ? undefined
    : { numbers: [major, minor, patch].map(Number), preRelease: preRelease?.split(".") ?? [] }
}

export const isVersion = (text: string): boolean => wholeVersion.test(text)

const isNumber = (identifier: string) => /^[0-9]+$/.test(identifier)

const compareIdentifiers = (one: string, other: string): number => {
  if (isNumber(one) && isNumber(other)) return Number(one) - Number(other)
  if (isNumber(one) !== isNumber(other)) return isNumber(one) ? -1 : 1
  return one === other ? 0 : one < other ? -1 : 1
}

/** Compares by precedence: a pre-release precedes its version, and more identifiers follow fewer. */
const compare = (one: Parsed, other: Parsed): number => {
  const [a, b] = [one.preRelease, other.preRelease]
  const differences = [
    ...one.numbers.map((value, index) => value - (other.numbers[index] ?? 0)),
    Number(a.length === 0) - Number(b.length === 0),
    ...a.map((identifier, index) => (b[index] === undefined ? 1 : compareIdentifiers(identifier, b[index]))),
    a.length - b.length
  ]
  return differences.find((difference) => difference !== 0) ?? 0
}

const refuse = (message: string) => new NotGenuine({ check: "version", message })

/**
 * Fails if a release is not the expected version, if its packages are of another one, or if it is older than what is installed:
 * an old release may have faults that are known.
 */
export const checkVersion = (
  version: string,
  { expected, installed, sums }: { readonly expected?: string; readonly installed: string; readonly sums: Sums }
): Effect.Effect<void, NotGenuine> => {
  const found = parse(version)
  if (found === undefined) {
    return refuse(`the release has no version: its statement says ${JSON.stringify(version.slice(0, 40))}`)
  }
  const other = [...sums.keys()].find((path) => (clientPackage.exec(path)?.[1] ?? version) !== version)
  if (other !== undefined) {
    return refuse(`the statement is of ${version}, and SHA256SUMS names ${other}: they are of different releases`)
  }
  if (expected !== undefined && expected !== version) return refuse(`the release is ${version}, not ${expected}`)
  const own = parse(installed)
  return own !== undefined && compare(found, own) < 0
    ? refuse(`the release is ${version}, which is older than ${installed}, which is installed`)
    : Effect.void
}
