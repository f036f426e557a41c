import { generateKeyPairSync } from "node:crypto"
import {
  anywhere,
  many,
  at,
  tooFar,
  account,
  federation,
  rule,
  webhook,
  structure,
  accounts,
  federations,
  rules,
  webhooks,
  since,
  type RuleCase
} from "./Records.js"

const key = (more: object = {}) => ({
  ...generateKeyPairSync("ec", { namedCurve: "P-256" }).publicKey.export({ format: "jwk" }),
  ...{ use: "sig", ...more }
})
const internal = { issuer: "https://issuer.internal" }

/** Rules on accounts, access rules and webhooks. `:sa` is the id of the account `ci`. */
export const accessCases: ReadonlyArray<RuleCase> = [
  {
    ...{ call: "serviceAccounts.create", error: "VALIDATION_ERROR", rule: "networks" },
    ask: ["POST", "/service-accounts", { name: "new", allowed_networks: ["1.2.3.400/8"] }],
    archive: accounts(account("new", { allowed_networks: ["1.2.3.400/8"] })),
    refused: /service account new: allowed_networks: 1\.2\.3\.400\/8 is no network/
  },
  {
    ...{ call: "serviceAccounts.create", error: "VALIDATION_ERROR", rule: "networks that admit what they say" },
    ask: ["POST", "/service-accounts", { name: "new", allowed_networks: ["::/0"] }],
    archive: accounts(account("new", { allowed_networks: ["::/0"] })),
    noted: /a network of service account new is kept, but ::\/0 admits all of IPv4 too/
  },
  {
    ...{ call: "serviceAccounts.create", error: "CONFLICT", rule: "a name once" },
    ask: ["POST", "/service-accounts", { name: "ci " }],
    archive: accounts(account("ci")),
    refused: /has the service account ci twice/
  },
  {
    ...{
      call: "serviceAccounts.create",
      error: "CONFLICT",
      rule: "names that differ in case or in spaces at their ends"
    },
    ask: ["POST", "/service-accounts", { name: "CI" }],
    archive: accounts(account("CI")),
    noted: /service accounts ci and CI are kept, but their names differ only in case or spaces/
  },
  {
    ...{ call: "serviceAccounts.create", error: "NOT_FOUND", rule: "a project that exists" },
    ask: ["POST", "/service-accounts", { name: "new", project: "nowhere" }],
    archive: accounts(account("new", { project: "nowhere" })),
    refused: /names the project nowhere, which it does not have/
  },
  {
    ...{ call: "serviceAccounts.create", error: "LIMIT_EXCEEDED", rule: "2,000 accounts" },
    archive: accounts(...many(2_000, (one) => account(`a ${one}`))),
    refused: /an organization has at most 2000 service accounts/
  },
  {
    ...{ call: "federations.create", error: "VALIDATION_ERROR", rule: "issuers that the server trusts" },
    ask: ["POST", "/service-accounts/:sa/federations", { ...federation("ff", internal), expires_at: tooFar }],
    archive: federations(federation("ff", internal)),
    noted: /federation ff of service account bot: issuer: is not on the server's list/
  },
  {
    ...{ call: "federations.create", error: "VALIDATION_ERROR", rule: "an end in the future" },
    ask: ["POST", "/service-accounts/:sa/federations", { ...federation("ff"), expires_at: at }],
    archive: federations(federation("ff", { expires_at: at })),
    taken: since
  },
  {
    ...{ call: "federations.create", error: "CONFLICT", rule: "a name once" },
    ask: ["POST", "/service-accounts/:sa/federations", federation("known")],
    archive: federations(federation("ff"), federation("ff")),
    refused: /has the federation of service account bot ff twice/
  },
  {
    ...{ call: "federations.create", error: "CONFLICT", rule: "keys that their ids tell apart" },
    ask: [
      "POST",
      "/service-accounts/:sa/federations",
      federation("ff", { ...internal, jwks: { keys: [key(), key()] } })
    ],
    archive: federations(federation("ff", { ...internal, jwks: { keys: [key(), key()] } })),
    noted: /federation ff of service account bot: jwks: two different keys of this issuer and account have no id/
  },
  {
    ...{
      call: "federations.create",
      error: "CONFLICT",
      rule: "keys that their ids tell apart from those of other federations"
    },
    archive: federations(
      federation("ff", { ...internal, jwks: { keys: [key({ kid: "one" })] } }),
      federation("gg", { ...internal, jwks: { keys: [key({ kid: "one" })] } })
    ),
    noted: /federation gg of service account bot: jwks: two different keys of this issuer and account have the id one/
  },
  {
    ...{ call: "federations.create", error: "LIMIT_EXCEEDED", rule: "20 federations" },
    archive: federations(...many(21, (one) => federation(`f-${one}`))),
    refused: /a service account has at most 20 federations/
  },
  {
    ...{ call: "acl.grant", error: "VALIDATION_ERROR", rule: "an end that is not too far" },
    ask: ["POST", "/acl", { subject_type: "user", email: "grace@example.com", ...anywhere, expires_at: tooFar }],
    archive: structure({ rules: [rule({ expires_at: tooFar })] }),
    refused: /a rule of grace@example.com: expires_at: must be at most 3,650 days ahead/
  },
  {
    ...{ call: "acl.grant", error: "VALIDATION_ERROR", rule: "an end in the future" },
    ask: ["POST", "/acl", { subject_type: "user", email: "grace@example.com", ...anywhere, expires_at: at }],
    archive: structure({ rules: [rule({ expires_at: at })] }),
    taken: since
  },
  {
    ...{ call: "acl.grant", error: "NOT_FOUND", rule: "a subject that exists" },
    ask: ["POST", "/acl", { subject_type: "user", email: "nobody@example.com", ...anywhere }],
    archive: rules(rule({ subject: "nobody@example.com" })),
    refused: /names the subject of a rule nobody@example.com, which it does not have/
  },
  {
    ...{ call: "acl.grant", error: "LIMIT_EXCEEDED", rule: "1,000 rules of a subject" },
    archive: rules(...many(1_000, (one) => rule({ project_pattern: `p-${one}` }))),
    refused: /a user, service account or group has at most 1000 access rules/
  },
  {
    ...{ call: "acl.grant", error: "LIMIT_EXCEEDED", rule: "2,000 rules of groups" },
    archive: structure({
      groups: many(3, (one) => ({ name: `g ${one}`, members: [] })),
      mappings: [],
      rules: many(2_001, (one) => rule({ subject_type: "group", subject: `g ${one % 3}`, env_pattern: `e-${one}` }))
    }),
    refused: /the groups of an organization have together at most 2000 access rules/
  },
  {
    ...{ call: "acl.grant", error: "LIMIT_EXCEEDED", rule: "20,000 rules" },
    archive: rules(...many(20_000, () => rule())),
    refused: /an organization has at most 20000 access rules/
  },
  {
    ...{ call: "webhooks.create", error: "VALIDATION_ERROR", rule: "addresses that the server may send to" },
    ask: ["POST", "/webhooks", { url: "https://10.0.0.1/x", events: ["*"] }],
    archive: webhooks(webhook({ url: "https://10.0.0.1/x" })),
    noted: /webhook to https:\/\/10\.0\.0\.1: /
  },
  {
    ...{ call: "webhooks.create", error: "VALIDATION_ERROR", rule: "events that exist" },
    ask: ["POST", "/webhooks", { url: "https://hooks.invalid/x", events: ["nothing"] }],
    archive: webhooks(webhook({ events: ["nothing"] })),
    refused: /webhooks\.1\.events\.0: must be \*, a group of events/
  },
  {
    ...{ call: "webhooks.create", error: "LIMIT_EXCEEDED", rule: "20 webhooks" },
    archive: webhooks(...many(20, () => webhook())),
    refused: /an organization has at most 20 webhooks/
  }
]
