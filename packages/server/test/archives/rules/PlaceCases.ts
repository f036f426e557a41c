import {
  base,
  many,
  at,
  tooFar,
  person,
  project,
  structure,
  projects,
  shop,
  env,
  protection,
  type RuleCase
} from "./Records.js"

/** Rules on organizations with their people, projects and environments. */
export const placeCases: ReadonlyArray<RuleCase> = [
  {
    ...{ call: "organizations.create", error: "CONFLICT", rule: "the name is in use" },
    ask: ["POST", "/api/orgs", { name: "taken-name" }],
    archive: () => ({ name: "taken-name" }),
    refused: /organization name taken-name/
  },
  {
    ...{ call: "organizations.create", error: "VALIDATION_ERROR", rule: "the form of a name" },
    ask: ["POST", "/api/orgs", { name: "A" }],
    archive: () => ({ name: "A" }),
    refused: /name: an organization name has/
  },
  {
    ...{ call: "organizations.update", error: "VALIDATION_ERROR", rule: "the words for the recovery of a passkey" },
    ask: ["PATCH", "", { passkey_recovery: "all" }],
    archive: structure({ passkey_recovery: "all" }),
    refused: /passkey_recovery must be one of/
  },
  {
    ...{ call: "organizations.update", error: "VALIDATION_ERROR", rule: "the words for mails about unused access" },
    ask: ["PATCH", "", { unused_access_mail: "weekly" }],
    archive: structure({ unused_access_mail: "weekly" }),
    refused: /unused_access_mail must be one of/
  },
  {
    ...{ call: "members.invite", error: "VALIDATION_ERROR", rule: "the form of an address" },
    ask: ["POST", "/members", { email: "x" }],
    archive: structure({ members: [{ email: "x", role: "owner" }] }),
    refused: /members\.0\.email: must be an e-mail address/
  },
  {
    ...{ call: "members.invite", error: "CONFLICT", rule: "a member once" },
    ask: ["POST", "/members", { email: "grace@example.com" }],
    archive: structure({ members: [...base.members, ...base.members] }),
    refused: /has the member grace@example.com twice/
  },
  {
    ...{ call: "members.invite", error: "LIMIT_EXCEEDED", rule: "10,000 members, of whom the importer is one" },
    archive: structure({ members: many(10_000, person), groups: [], mappings: [], rules: [] }),
    refused: /an organization has at most 10000 members/
  },
  {
    ...{ call: "groups.create", error: "VALIDATION_ERROR", rule: "the form of a name" },
    ask: ["POST", "/groups", { name: "-" }],
    archive: structure({ groups: [...base.groups, { name: "-", members: [] }] }),
    refused: /groups\.1\.name: a group name has/
  },
  {
    ...{ call: "groups.create", error: "CONFLICT", rule: "names that differ in case or in spaces at their ends" },
    ask: ["POST", "/groups", { name: "backend " }],
    archive: structure({ groups: [...base.groups, { name: "backend ", members: [] }] }),
    refused: /has the group backend twice/
  },
  {
    ...{ call: "groups.create", error: "LIMIT_EXCEEDED", rule: "200 groups" },
    archive: structure({ groups: [...base.groups, ...many(200, (one) => ({ name: `g ${one}`, members: [] }))] }),
    refused: /an organization has at most 200 groups/
  },
  {
    ...{ call: "groups.setMembers", error: "NOT_FOUND", rule: "members of the organization alone" },
    ask: ["PUT", "/groups/Backend/members", { emails: ["nobody@example.com"] }],
    archive: structure({ groups: [{ name: "Backend", members: ["nobody@example.com"] }] }),
    refused: /names the member nobody@example.com, which it does not have/
  },
  {
    ...{ call: "groups.setMembers", error: "VALIDATION_ERROR", rule: "2,000 members" },
    ask: ["PUT", "/groups/Backend/members", { emails: many(2_001, (one) => person(one).email) }],
    archive: structure({
      members: [...base.members, ...many(2_001, person)],
      groups: [{ name: "Backend", members: many(2_001, (one) => person(one).email) }]
    }),
    refused: /must be at most 2,000 e-mail addresses/
  },
  {
    ...{ call: "groups.setMappings", error: "NOT_FOUND", rule: "groups of the organization alone" },
    ask: ["PUT", "/group-mappings", { mappings: [{ provider_group: "x", group: "Nowhere" }] }],
    archive: structure({ mappings: [{ provider_group: "x", group: "Nowhere" }] }),
    refused: /names the group Nowhere, which it does not have/
  },
  {
    ...{ call: "groups.setMappings", error: "VALIDATION_ERROR", rule: "200 mappings" },
    ask: [
      "PUT",
      "/group-mappings",
      { mappings: many(201, (one) => ({ provider_group: `p${one}`, group: "Backend" })) }
    ],
    archive: structure({ mappings: many(201, (one) => ({ provider_group: `p${one}`, group: "Backend" })) }),
    refused: /at most 200 mappings/
  },
  {
    ...{ call: "projects.create", error: "VALIDATION_ERROR", rule: "the form of a name" },
    ask: ["POST", "/projects", { name: "A" }],
    archive: projects(project("A")),
    refused: /projects\.1\.name: a project name has/
  },
  {
    ...{ call: "projects.create", error: "CONFLICT", rule: "a name once" },
    ask: ["POST", "/projects", { name: "webshop" }],
    archive: projects(project("webshop")),
    refused: /has the project webshop twice/
  },
  {
    ...{ call: "projects.create", error: "LIMIT_EXCEEDED", rule: "2,000 projects" },
    archive: projects(...many(2_000, (one) => project(`p-${one}`))),
    refused: /an organization has at most 2000 projects/
  },
  {
    ...{ call: "projects.rename", error: "VALIDATION_ERROR", rule: "an order of environments that exist" },
    ask: ["PATCH", "/projects/webshop", { order: ["nowhere"] }],
    archive: shop({ order: ["nowhere"] }),
    refused: /order: project shop has no environment nowhere/
  },
  {
    ...{ call: "projects.rename", error: "VALIDATION_ERROR", rule: "an order that names each environment once" },
    ask: ["PATCH", "/projects/webshop", { order: ["dev", "dev"] }],
    archive: shop({ order: ["dev", "dev"], environments: [{ name: "dev" }] }),
    refused: /order: names dev twice/
  },
  {
    ...{ call: "environments.create", error: "VALIDATION_ERROR", rule: "an end that is not too far" },
    ask: ["POST", "/projects/webshop/envs", { name: "later", expires_at: tooFar }],
    archive: env({ expires_at: tooFar }),
    refused: /environment shop\/prod: expires_at: must be at most 3,650 days ahead/
  },
  {
    ...{ call: "environments.create", error: "VALIDATION_ERROR", rule: "an end in the future" },
    ask: ["POST", "/projects/webshop/envs", { name: "later", expires_at: at }],
    archive: env({ expires_at: at }),
    taken: "it has ended since the export, and lasts until the import can be verified"
  },
  {
    ...{ call: "environments.create", error: "CONFLICT", rule: "a name once" },
    ask: ["POST", "/projects/webshop/envs", { name: "prod" }],
    archive: shop({ environments: [{ name: "prod" }, { name: "prod" }] }),
    refused: /has the environment of project shop prod twice/
  },
  {
    ...{ call: "environments.create", error: "NOT_FOUND", rule: "an origin that exists" },
    ask: ["POST", "/projects/webshop/envs", { name: "later", from: "nowhere" }],
    archive: env({ from: "nowhere" }),
    refused: /names the environment of project shop nowhere, which it does not have/
  },
  {
    ...{ call: "environments.create", error: "LIMIT_EXCEEDED", rule: "100 environments" },
    archive: shop({ environments: many(101, (one) => ({ name: `e-${one}` })) }),
    refused: /a project has at most 100 environments/
  },
  {
    ...{ call: "previews.set", error: "NOT_FOUND", rule: "an origin that exists" },
    ask: ["PUT", "/projects/webshop/previews", { from: "nowhere", pattern: "*" }],
    archive: shop({ previews: { from: "nowhere", pattern: "*" } }),
    refused: /names the environment of project shop nowhere, which it does not have/
  },
  {
    ...{ call: "previews.set", error: "VALIDATION_ERROR", rule: "50 previews" },
    ask: ["PUT", "/projects/webshop/previews", { from: "dev", pattern: "*", max: 51 }],
    archive: shop({ previews: { from: "dev", pattern: "*", max: 51 }, environments: [{ name: "dev" }] }),
    refused: /previews\.max: must be a whole number from 1 to 50/
  },
  {
    ...{ call: "protections.set", error: "VALIDATION_ERROR", rule: "3 votes" },
    ask: ["PUT", "/projects/webshop/envs/prod/protection", { needed: 4, approvers: "owners" }],
    archive: protection({ needed: 4 }),
    refused: /protection\.needed: must be a whole number from 1 to 3/
  },
  {
    ...{ call: "protections.set", error: "CONFLICT", rule: "enough voters" },
    ask: ["PUT", "/projects/webshop/envs/prod/protection", { needed: 3, approvers: "owners" }],
    archive: protection({ needed: 3 }),
    noted: /the votes of others for the protection of environment shop\/prod: no owner could get 3/
  },
  {
    ...{ call: "protections.set", error: "CONFLICT", rule: "members alone break the glass" },
    ask: [
      "PUT",
      "/projects/webshop/envs/prod/protection",
      { needed: 1, approvers: "owners", break_glass: ["x@y.com"] }
    ],
    archive: protection({ break_glass: ["x@y.com"], self: true }),
    noted: /x@y.com in the protection of environment shop\/prod: not a member/
  },
  {
    ...{ call: "protections.set", error: "CONFLICT", rule: "somebody could end it" },
    ask: ["PUT", "/projects/webshop/envs/prod/protection", { needed: 1, approvers: "owners" }],
    archive: protection({}),
    noted: /so that .* may break the glass there/
  },
  {
    ...{ call: "protections.set", error: "CONFLICT", rule: "of an environment that lasts" },
    ask: ["PUT", "/projects/webshop/envs/ending/protection", { needed: 1, approvers: "owners", self: true }],
    archive: protection({ self: true }, { expires_at: "2030-01-31T08:00:00.000Z" }),
    taken: "its votes may set an end afterwards: environments.extend"
  }
]
