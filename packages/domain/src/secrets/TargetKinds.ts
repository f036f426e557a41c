import { isPlainUrl } from "../base/PlainUrl.js"

/** A part of the place of a target, such as its project. */
export interface PlaceField {
  readonly about: string
  readonly example: string
  readonly is: (text: string) => boolean
  readonly isOptional?: true
}

interface KindRow {
  /** The platform, for people. */
  readonly title: string
  /** The value of the secret that `credential_key` names. */
  readonly credential: string
  readonly place: Readonly<Record<string, PlaceField>>
}

const matching = (pattern: RegExp) => (text: string) => pattern.test(text)

/** Segments of a path, without dots alone: a client resolves these. */
const isPath = (text: string): boolean =>
  text.length <= 500 &&
  /^[A-Za-z0-9_.-]+(?:\/[A-Za-z0-9_.-]+)*$/.test(text) &&
  !text.split("/").some((part) => /^\.+$/.test(part))

const url: PlaceField = {
  about: "the address of the server, without a path",
  example: "https://vault.example.com",
  is: (text) => text.length <= 500 && isPlainUrl(text) && new URL(text).pathname === "/" && !/[/?]$/.test(text)
}

/** The platforms that secrets are pushed to. A further one is a row here, and a file in `delivery/kinds` of the server. */
export const targetKinds = {
  vault: {
    title: "Vault or OpenBao, KV version 2",
    credential: "a token that may read, create, update and patch the path",
    place: {
      url,
      mount: { about: "the mount of the engine", example: "secret", is: isPath },
      path: { about: "the path of the secret, whose fields are the keys", example: "webshop/prod", is: isPath },
      namespace: { about: "the namespace", example: "team-a", is: isPath, isOptional: true }
    }
  }
} as const satisfies Readonly<Record<string, KindRow>>

export type TargetKindName = keyof typeof targetKinds

export const isTargetKind = (text: string): text is TargetKindName => Object.hasOwn(targetKinds, text)

/** The place of a target, by the fields of its kind. */
export type TargetPlace = Readonly<Record<string, string>>

const fieldsOf = (kind: TargetKindName): Readonly<Record<string, PlaceField>> => targetKinds[kind].place

/** The names of the fields of a kind's place, such as `url, mount, path [namespace]`. */
export const placeWords = (kind: TargetKindName): string => {
  const all = Object.entries(fieldsOf(kind))
  const needed = all.filter(([, { isOptional }]) => isOptional === undefined).map(([name]) => name)
  const others = all.filter(([, { isOptional }]) => isOptional === true).map(([name]) => name)
  return [needed.join(", "), ...others.map((name) => `[${name}]`)].join(" ")
}

/** The problem with a place; null if there is none. */
export const placeProblem = (kind: TargetKindName, place: TargetPlace): string | null => {
  const fields = fieldsOf(kind)
  const unknown = Object.keys(place).find((name) => !Object.hasOwn(fields, name))
  if (unknown !== undefined) return `place: ${kind} has no ${unknown}; it takes ${placeWords(kind)}`
  for (const [name, { about, example, is, isOptional }] of Object.entries(fields)) {
    const text = place[name]
    if (text === undefined && isOptional === true) continue
    if (text === undefined) return `place: ${kind} needs ${name}, ${about}, such as ${example}`
    if (!is(text)) return `place: ${name} must be ${about}, such as ${example}`
  }
  return null
}

export const targetNamePattern = /^[A-Za-z0-9_][A-Za-z0-9_./-]{0,199}$/
export const isTargetKeyName = matching(targetNamePattern)
