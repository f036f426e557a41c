import { AclRule } from "@coffer/domain/AclRule"
import { AuditActor, AuditMoment } from "@coffer/domain/api/AuditApi"
import { AuditCursor } from "@coffer/domain/AuditCursor"
import { AuditPage } from "@coffer/domain/AuditEntry"
import { Environment } from "@coffer/domain/Environment"
import { Member } from "@coffer/domain/Member"
import { withMessage } from "@coffer/domain/Message"
import { EnvName, OrgName, ProjectName, SecretKey } from "@coffer/domain/Names"
import { Organization } from "@coffer/domain/Organization"
import { Project } from "@coffer/domain/Project"
import { Count, integerParameter, list, optional } from "@coffer/domain/Schemas"
import { SecretListed, SecretRead, SecretWritten } from "@coffer/domain/Secret"
import { RedactedSecretValue } from "@coffer/domain/SecretValues"
import { Effect, Schema } from "effect"
import type { McpSettings } from "./McpSettings.js"
import { type Hints, parameters, type Tool, tool } from "./Tool.js"

/** `openWorldHint` is false: tools reach nothing but the server. */
const openWorldHint = false
const reads: Hints = { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint }
const adds: Hints = { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint }
const replaces: Hints = { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint }
const removes: Hints = { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint }

const removed = <Fields extends Schema.Struct.Fields>(fields: Fields) =>
  Schema.Struct({ ...fields, deleted: Schema.Literal(true) })

const key = SecretKey.annotations({ description: "The secret's key" })

const secretSet = tool({
  name: "secret_set",
  title: "Store a secret",
  description:
    "Creates a secret, or writes a new version of it; earlier versions are kept. Returns the key, the new version and the times, never the value. " +
    "Use it to store a value that you were given or have made; pass expected_version where somebody else may have changed the secret meanwhile.",
  hints: replaces,
  parameters: parameters({
    key,
    value: RedactedSecretValue,
    expected_version: optional(
      Count.annotations({
        description:
          "Write only if this is the current version, 0 if the key must not exist yet; otherwise CONFLICT, and nothing changes"
      })
    )
  }),
  at: "env",
  output: SecretWritten,
  run: (call, path, { expected_version, key, value }) =>
    call("secrets", (api) =>
      api.set({
        path: { ...path, key },
        payload: { value, ...(expected_version !== undefined && { expected_version }) }
      })
    )
})

const secretGet = tool({
  name: "secret_get",
  title: "Read a secret's value",
  description:
    "Returns the key, the value in plain text and the version; the read is written to the audit log. " +
    "Use it only when the value itself is needed: secret_list tells which keys there are. Do not repeat the value in messages, files or logs.",
  hints: reads,
  parameters: parameters({ key }),
  at: "env",
  output: SecretRead,
  run: (call, path, { key }) => call("secrets", (api) => api.get({ path: { ...path, key }, urlParams: {} }))
})

const secretCheck = tool({
  name: "secret_get",
  title: "Check that a secret exists",
  description:
    "Returns the key and the current version. The value is not shown: this server was started with SERVICE_MCP_REVEAL=0. " +
    "Use it to make sure that a secret is there; programs get its value by coffer run.",
  hints: reads,
  parameters: parameters({ key }),
  at: "env",
  output: SecretRead.omit("value"),
  // The server does not send the value at all.
  run: (call, path, { key }) =>
    call("secrets", (api) => api.versions({ path: { ...path, key }, urlParams: { limit: 1 } })).pipe(
      Effect.map(({ data }) => ({ key, version: Math.max(0, ...data.map(({ version }) => version)) }))
    )
})

const secretList = tool({
  name: "secret_list",
  title: "List secrets",
  description:
    "Returns the keys of an environment, each with its version and the time of its last change, without values. " +
    "Use it to see which secrets there are, and before you write or delete one.",
  hints: reads,
  parameters: parameters({}),
  at: "env",
  output: list(SecretListed),
  run: (call, path) => call("secrets", (api) => api.list({ path }))
})

const secretDelete = tool({
  name: "secret_delete",
  title: "Delete a secret",
  description:
    "Removes a secret: programs that need it will fail. Returns what was removed, and where. " +
    "Use it only when the user wants this key gone; a person can bring it back with the command-line client.",
  hints: removes,
  parameters: parameters({ key }),
  at: "env",
  output: removed({ org: OrgName, project: ProjectName, env: EnvName, key: SecretKey }),
  run: (call, path, { key }) =>
    call("secrets", (api) => api.delete({ path: { ...path, key }, urlParams: {} })).pipe(
      Effect.as({ org: path.org_name, project: path.project_name, env: path.env_name, key, deleted: true as const })
    )
})

const projectCreate = tool({
  name: "project_create",
  title: "Create a project",
  description:
    "Creates a project with the environments dev, staging and prod. Returns the project. " +
    "Use it when the user wants a new place for secrets; project_list tells which there are.",
  hints: adds,
  parameters: parameters({ name: ProjectName.annotations({ description: "The new project's name" }) }),
  at: "org",
  about: ({ name }) => ({ project: name }),
  output: Project,
  run: (call, path, { name }) => call("projects", (api) => api.create({ path, payload: { name } }))
})

const projectList = tool({
  name: "project_list",
  title: "List projects",
  description:
    "Returns the projects of an organization. Use it to find the name to pass as project in the other tools.",
  hints: reads,
  parameters: parameters({}),
  at: "org",
  output: list(Project),
  run: (call, path) => call("projects", (api) => api.list({ path }))
})

const projectDelete = tool({
  name: "project_delete",
  title: "Delete a project",
  description:
    "Removes a project with all its environments and secrets, at once and out of an agent's power to undo. Returns what was removed. " +
    "Use it only when the user has named this very project to be deleted.",
  hints: removes,
  parameters: parameters({ name: ProjectName.annotations({ description: "The name of the project to remove" }) }),
  at: "org",
  about: ({ name }) => ({ project: name }),
  output: removed({ org: OrgName, project: ProjectName }),
  run: (call, path, { name }) =>
    call("projects", (api) => api.delete({ path: { ...path, project_name: name } })).pipe(
      Effect.as({ org: path.org_name, project: name, deleted: true as const })
    )
})

const envCreate = tool({
  name: "env_create",
  title: "Create an environment",
  description:
    "Creates an environment in a project, without secrets. Returns the environment. " +
    "Use it when the user wants another stage beside those that env_list tells.",
  hints: adds,
  parameters: parameters({ name: EnvName.annotations({ description: "The new environment's name" }) }),
  at: "project",
  about: ({ name }) => ({ env: name }),
  output: Environment,
  run: (call, path, { name }) => call("environments", (api) => api.create({ path, payload: { name } }))
})

const envList = tool({
  name: "env_list",
  title: "List environments",
  description: "Returns the environments of a project. Use it to find the name to pass as env in the other tools.",
  hints: reads,
  parameters: parameters({}),
  at: "project",
  output: list(Environment),
  run: (call, path) => call("environments", (api) => api.list({ path }))
})

const envDelete = tool({
  name: "env_delete",
  title: "Delete an environment",
  description:
    "Removes an environment with all its secrets, at once and out of an agent's power to undo. Returns what was removed. " +
    "Use it only when the user has named this very environment to be deleted.",
  hints: removes,
  parameters: parameters({ name: EnvName.annotations({ description: "The name of the environment to remove" }) }),
  at: "project",
  about: ({ name }) => ({ env: name }),
  output: removed({ org: OrgName, project: ProjectName, env: EnvName }),
  run: (call, path, { name }) =>
    call("environments", (api) => api.delete({ path: { ...path, env_name: name } })).pipe(
      Effect.as({ org: path.org_name, project: path.project_name, env: name, deleted: true as const })
    )
})

const orgList = tool({
  name: "org_list",
  title: "List organizations",
  description:
    "Returns the organizations that the credential belongs to, with the role in each: a service account has one, and no role. " +
    "Use it to find the name to pass as org in the other tools.",
  hints: reads,
  parameters: parameters({}),
  at: "server",
  output: list(Organization),
  run: (call) => call("organizations", (api) => api.list())
})

const orgMembersList = tool({
  name: "org_members_list",
  title: "List an organization's members",
  description:
    "Returns the people of an organization with e-mail address and role. Use it to tell who could grant a right; service accounts may not call it.",
  hints: reads,
  parameters: parameters({}),
  at: "org",
  output: list(Member),
  run: (call, path) => call("members", (api) => api.list({ path }))
})

const aclList = tool({
  name: "acl_list",
  title: "List access rules",
  description:
    "Returns the access rules of an organization: who may read, write or administer which projects and environments. " +
    "Use it to explain why something is FORBIDDEN; it takes an admin's rights.",
  hints: reads,
  parameters: parameters({}),
  at: "org",
  output: list(AclRule),
  run: (call, path) => call("acl", (api) => api.list({ path }))
})

const word = Schema.String.pipe(
  Schema.pattern(/^[A-Za-z0-9_.@:-]{1,100}$/, withMessage("must be a word of at most 100 characters"))
)

const auditList = tool({
  name: "audit_list",
  title: "Read the audit log",
  description:
    "Returns entries of an organization's audit log, newest first: who did what, when and from where, never a value. " +
    "Where pagination.has_next is true, call again with after set to pagination.next_cursor. Use it to find out who read or changed something; it takes an admin's rights.",
  hints: reads,
  parameters: parameters({
    action: optional(word.annotations({ description: "Only this action", examples: ["secret.read"] })),
    actor: optional(
      AuditActor.annotations({ description: "Only this actor: an id, an e-mail address or a service account's name" })
    ),
    resource_type: optional(word.annotations({ description: "Only this type of resource", examples: ["secret"] })),
    in_project: optional(ProjectName.annotations({ description: "Only what happened in this project" })),
    in_env: optional(EnvName.annotations({ description: "Only what happened in this environment" })),
    key: optional(
      SecretKey.annotations({ description: "Only what happened to this key, also where a whole environment was read" })
    ),
    since: optional(
      Schema.typeSchema(AuditMoment).annotations({ description: "Only from this moment on", examples: ["2026-01-31"] })
    ),
    until: optional(
      Schema.typeSchema(AuditMoment).annotations({
        description: "Only before this moment",
        examples: ["2026-01-31T08:00:00Z"]
      })
    ),
    limit: optional(
      Schema.typeSchema(integerParameter(1, 100)).annotations({
        description: "How many entries at most; 20 if left out"
      })
    ),
    after: optional(AuditCursor.annotations({ description: "The next_cursor of the page before" }))
  }),
  at: "org",
  output: AuditPage,
  run: (call, path, { action, actor, after, in_env, in_project, key, limit, resource_type, since, until }) =>
    call("audit", (api) =>
      api.list({
        path,
        urlParams: {
          ...(action !== undefined && { action }),
          ...(actor !== undefined && { actor }),
          ...(in_project !== undefined && { project: in_project }),
          ...(in_env !== undefined && { env: in_env }),
          ...(key !== undefined && { key }),
          ...(since !== undefined && { since }),
          ...(until !== undefined && { until }),
          ...(resource_type !== undefined && { resource_type }),
          ...(limit !== undefined && { limit }),
          ...(after !== undefined && { after })
        }
      })
    )
})

const healthCheck = tool({
  name: "health_check",
  title: "Check the server",
  description:
    "Returns the status ok when the server answers, and an error that says why when it does not. It needs no credential. " +
    "Use it first when other tools fail to reach the server.",
  hints: reads,
  parameters: parameters({}),
  at: "server",
  credential: false,
  output: Schema.Struct({ status: Schema.Literal("ok") }),
  run: (call) => call("system", (api) => api.health())
})

/** Every tool, in the order of the specification. */
const all = (reveal: boolean): ReadonlyArray<Tool> => [
  secretSet,
  reveal ? secretGet : secretCheck,
  secretList,
  secretDelete,
  projectCreate,
  projectList,
  projectDelete,
  envCreate,
  envList,
  envDelete,
  orgList,
  orgMembersList,
  aclList,
  auditList,
  healthCheck
]

/** Splits the tools into those offered and those withheld because they change something. */
export const toolsFor = ({ readOnly, reveal }: McpSettings) => {
  const tools = all(reveal)
  const isOffered = ({ hints }: Tool) => !readOnly || hints.readOnlyHint
  return { offered: tools.filter(isOffered), keptBack: tools.filter((tool) => !isOffered(tool)) } as const
}

/** The entry of a tool in `tools/list`. */
export const listed = (tool: Tool) => ({
  name: tool.name,
  title: tool.title,
  description: tool.description,
  inputSchema: tool.inputSchema(),
  outputSchema: tool.outputSchema(),
  annotations: { title: tool.title, ...tool.hints }
})
