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

/** The kinds whose place names one of two things, and fields that only one of these has. */
const either: Readonly<
  Record<string, { readonly one: readonly [string, string]; readonly of?: Readonly<Record<string, string>> }>
> = {
  "github-actions": {
    one: ["repository", "organization"],
    of: { environment: "repository", visibility: "organization" }
  },
  gitlab: { one: ["project", "group"] },
  cloudflare: { one: ["worker", "pages"], of: { environment: "pages" } }
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

/** The address of an API, which may be below a path. */
const api = (at: string): PlaceField => ({
  about: "the address of its API, if it is not the usual one",
  example: at,
  is: (text) => text.length <= 500 && isPlainUrl(text) && !/[/?]$/.test(text),
  isOptional: true
})

const optional = (field: PlaceField): PlaceField => ({ ...field, isOptional: true })

const oneOf = (...words: ReadonlyArray<string>): PlaceField => ({
  about: words.join(" or "),
  example: words[0] ?? "",
  is: (text) => words.includes(text)
})

const word = (about: string, example: string, pattern = /^[A-Za-z0-9_.-]{1,200}$/): PlaceField => ({
  about,
  example,
  is: (text) => pattern.test(text) && !/^\.+$/.test(text)
})

/** A name that people choose on a platform, which is escaped in addresses. */
const title = (about: string, example: string) => word(about, example, /^[^\p{Cc}]{1,200}$/u)

const awsPlace = {
  region: word("the region", "eu-central-1", /^[a-z]{2}(?:-[a-z]+)+-\d{1,2}$/),
  access_key_id: word("the id of the access key", "AKIAIOSFODNN7EXAMPLE", /^[A-Z0-9]{16,128}$/),
  url: api("https://secretsmanager.eu-central-1.amazonaws.com")
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
  },
  "github-actions": {
    title: "GitHub Actions",
    credential: "a fine-grained token that may write secrets (environments too, for those of one)",
    place: {
      repository: optional(word("the repository", "acme/webshop", /^[A-Za-z0-9_.-]{1,100}\/[A-Za-z0-9_.-]{1,100}$/)),
      environment: optional(title("an environment of the repository", "production")),
      organization: optional(word("the organization, instead of a repository", "acme")),
      visibility: optional(oneOf("private", "all")),
      url: api("https://github.example.com/api/v3")
    }
  },
  gitlab: {
    title: "GitLab CI/CD variables",
    credential: "an access token with the scope api and the role Maintainer",
    place: {
      project: optional(word("the project, by its path or number", "acme/webshop", /^[A-Za-z0-9_./-]{1,255}$/)),
      group: optional(word("the group, instead of a project", "acme", /^[A-Za-z0-9_./-]{1,255}$/)),
      environment_scope: optional(
        title("the environments that get them, such as production; default: *", "production")
      ),
      masked: optional(oneOf("true", "false")),
      protected: optional(oneOf("true", "false")),
      url: api("https://gitlab.example.com")
    }
  },
  kubernetes: {
    title: "a Secret of Kubernetes",
    credential: "the token of a ServiceAccount that may get, create and patch the Secret",
    place: {
      url,
      namespace: word("the namespace", "webshop", /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/),
      name: word("the name of the Secret", "webshop-env", /^[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?$/),
      ca: {
        about: "the certificate of the cluster's authority, as PEM",
        example: "-----BEGIN CERTIFICATE-----…",
        is: (text) => /^-----BEGIN CERTIFICATE-----\n[A-Za-z0-9+/=\n]+\n-----END CERTIFICATE-----\n?/.test(text),
        isOptional: true
      }
    }
  },
  "aws-secrets-manager": {
    title: "AWS Secrets Manager",
    credential: "the secret access key of the access key",
    place: { ...awsPlace, path: { about: "the path before each name", example: "webshop/prod", is: isPath } }
  },
  "aws-parameter-store": {
    title: "AWS Systems Manager Parameter Store",
    credential: "the secret access key of the access key",
    place: { ...awsPlace, path: { about: "the path before each name", example: "webshop/prod", is: isPath } }
  },
  vercel: {
    title: "Vercel",
    credential: "an access token of the team",
    place: {
      project: word("the project, by its name or id", "webshop"),
      environment: oneOf("production", "preview", "development"),
      team: optional(word("the id of the team", "team_nLlpyC6REAqxydlFKbrMDlud")),
      url: api("https://api.vercel.com")
    }
  },
  cloudflare: {
    title: "Cloudflare Workers or Pages",
    credential: "an API token that may edit Workers Scripts or Pages",
    place: {
      account: word("the id of the account", "023e105f4ecef8ad9ca31a8372d0c353", /^[0-9a-f]{32}$/),
      worker: optional(word("the Worker", "webshop")),
      pages: optional(word("the project of Pages, instead of a Worker", "webshop")),
      environment: optional(oneOf("production", "preview")),
      url: api("https://api.cloudflare.com/client/v4")
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
    if (text === undefined)
      return `place: ${kind} needs ${name}, ${about}, such as ${example}; it takes ${placeWords(kind)}`
    if (!is(text)) return `place: ${name} must be ${about}, such as ${example}`
  }
  const { of = {}, one } = either[kind] ?? {}
  if (one !== undefined) {
    const [given, both] = one.filter((name) => place[name] !== undefined)
    if (given === undefined || both !== undefined) return `place: ${kind} needs either ${one.join(" or ")}`
    const stray = Object.entries(of).find(([name, needed]) => place[name] !== undefined && needed !== given)
    if (stray !== undefined) return `place: ${stray[0]} goes with ${stray[1]}`
  }
  return null
}

export const targetNamePattern = /^[A-Za-z0-9_][A-Za-z0-9_./-]{0,199}$/
export const isTargetKeyName = matching(targetNamePattern)
