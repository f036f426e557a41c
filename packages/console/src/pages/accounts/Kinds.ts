import type { KeylessSystem } from "@coffer/domain/guides/Keyless"

interface KindField {
  readonly name: string
  readonly label: string
  readonly placeholder?: string
  readonly hint?: string
  /** The claim that has to have the text; none for a part of the issuer's address. */
  readonly claim?: string
  readonly isOptional?: true
}

interface Kind {
  readonly system: KeylessSystem
  /** The name that a federation has unless another is typed. */
  readonly name: string
  readonly issuer: (typed: Typed) => string
  readonly fields: ReadonlyArray<KindField>
}

/** The typed texts, by field name. */
export type Typed = Readonly<Record<string, string>>

const environment: KindField = {
  name: "environment",
  label: "Deployment environment",
  placeholder: "production",
  hint: "without one, and without a branch, any job can sign in",
  claim: "/environment",
  isOptional: true
}

const ref: KindField = {
  name: "ref",
  label: "Branch or tag",
  placeholder: "refs/heads/main",
  claim: "/ref",
  isOptional: true
}

const uuid = "0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1d50"

/** Where a service account signs in without a stored key, and what identifies a job there. */
export const kinds = {
  GitHub: {
    system: "github",
    name: "github",
    issuer: () => "https://token.actions.githubusercontent.com",
    fields: [
      {
        name: "repository",
        label: "Id of the repository",
        placeholder: "123456789",
        hint: "gh api repos/OWNER/REPO --jq .id prints it",
        claim: "/repository_id"
      },
      environment,
      ref
    ]
  },
  GitLab: {
    system: "gitlab",
    name: "gitlab",
    issuer: () => "https://gitlab.com",
    fields: [
      {
        name: "project",
        label: "Id of the project",
        placeholder: "42",
        hint: "GitLab shows it in the project's general settings",
        claim: "/project_id"
      },
      environment,
      { ...ref, placeholder: "main" }
    ]
  },
  Kubernetes: {
    system: "kubernetes",
    name: "kubernetes",
    issuer: () => "https://kubernetes.default.svc.cluster.local",
    fields: [
      { name: "namespace", label: "Namespace", placeholder: "shop", claim: "/kubernetes.io/namespace" },
      {
        name: "account",
        label: "Service account of the pod",
        placeholder: "deploy",
        claim: "/kubernetes.io/serviceaccount/name"
      }
    ]
  },
  Buildkite: {
    system: "buildkite",
    name: "buildkite",
    issuer: () => "https://agent.buildkite.com",
    fields: [
      {
        name: "pipeline",
        label: "Id of the pipeline",
        placeholder: uuid,
        hint: "the pipeline's settings show it; the job asks for the claim pipeline_id",
        claim: "/pipeline_id"
      },
      { ...ref, placeholder: "main", claim: "/build_branch" }
    ]
  },
  CircleCI: {
    system: "circleci",
    name: "circleci",
    issuer: ({ organization = "" }) => `https://oidc.circleci.com/org/${organization}`,
    fields: [
      { name: "organization", label: "Id of the organization", placeholder: uuid },
      {
        name: "project",
        label: "Id of the project",
        placeholder: uuid,
        hint: "CircleCI shows both in the settings",
        claim: "/oidc.circleci.com~1project-id"
      },
      { ...ref, claim: "/oidc.circleci.com~1vcs-ref" }
    ]
  },
  other: { system: "other", name: "other", issuer: () => "", fields: [] }
} as const satisfies Readonly<Record<string, Kind>>

export type KindName = keyof typeof kinds
export const kindNames: ReadonlyArray<KindName> = ["GitHub", "GitLab", "Kubernetes", "Buildkite", "CircleCI", "other"]

export const kindOf = (name: KindName): Kind => kinds[name]

/** A claim as it is typed, `NAME=VALUE`, or a JSON Pointer in place of the name. */
const claimOf = (line: string): readonly [pointer: string, value: string] => {
  const at = line.indexOf("=")
  const name = line.slice(0, Math.max(0, at)).trim()
  return [name.startsWith("/") ? name : `/${name.replaceAll("~", "~0")}`, line.slice(at + 1).trim()]
}

/** The conditions that a form has: those of the fields that are typed, and those of further lines. */
export const conditionsOf = ({ fields }: Kind, typed: Typed, further: string): Readonly<Record<string, string>> =>
  Object.fromEntries([
    ...fields.flatMap(({ claim, name }) => {
      const text = typed[name]?.trim() ?? ""
      return claim === undefined || text === "" ? [] : [[claim, text] as const]
    }),
    ...further
      .split("\n")
      .filter((line) => line.trim() !== "")
      .map(claimOf)
  ])

/** The fields that are still to be filled in. */
export const missingOf = ({ fields }: Kind, typed: Typed): ReadonlyArray<string> =>
  fields
    .filter(({ isOptional, name }) => isOptional !== true && (typed[name]?.trim() ?? "") === "")
    .map(({ label }) => label)
