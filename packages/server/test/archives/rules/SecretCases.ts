import { at, base, many, useRule, secret, declared, secrets, useRules, since, type RuleCase } from "./Records.js"

/** Rules on declared keys, secrets and use rules. */
export const secretCases: ReadonlyArray<RuleCase> = [
  {
    ...{ call: "declared.set", error: "VALIDATION_ERROR", rule: "patterns that take linear time" },
    ask: ["PUT", "/projects/webshop/declared/KEY", { pattern: "(a)\\1" }],
    archive: declared({ key: "KEY", pattern: "(a)\\1" }),
    refused: /^KEY: pattern: /
  },
  {
    ...{ call: "declared.set", error: "VALIDATION_ERROR", rule: "an example that matches" },
    ask: ["PUT", "/projects/webshop/declared/KEY", { pattern: "[0-9]+", example: "x" }],
    archive: declared({ key: "KEY", pattern: "[0-9]+", example: "x" }),
    refused: /^KEY: example: does not match the pattern/
  },
  {
    ...{ call: "declared.set", error: "VALIDATION_ERROR", rule: "no controls of the direction of text" },
    ask: ["PUT", "/projects/webshop/declared/KEY", { description: "\u202ex" }],
    archive: declared({ key: "KEY", description: "\u202ex" }),
    taken: "version 0.3.0 took them, and what is stored is still read"
  },
  {
    ...{ call: "declared.set", error: "LIMIT_EXCEEDED", rule: "2,000 keys" },
    archive: declared(...many(2_001, (one) => ({ key: `KEY_${one}` }))),
    refused: /a project declares at most 2000 keys/
  },
  {
    ...{ call: "secrets.set", error: "VALIDATION_ERROR", rule: "the form of a reference" },
    ask: ["PUT", "/projects/webshop/envs/prod/secrets/KEY", { value: "${", kind: "reference" }],
    archive: secrets(secret("KEY", { kind: "reference", value: "${" })),
    refused: /^KEY: the reference at character 1/
  },
  {
    ...{ call: "secrets.set", error: "REFERENCE_REFUSED", rule: "32 references" },
    ask: ["PUT", "/projects/webshop/envs/prod/secrets/KEY", { value: "${A}".repeat(33), kind: "reference" }],
    archive: secrets(secret("KEY", { kind: "reference", value: "${A}".repeat(33) })),
    refused: /^KEY: has 33 references: a value has at most 32/
  },
  {
    ...{ call: "secrets.set", error: "REFERENCE_REFUSED", rule: "no reference to itself" },
    ask: ["PUT", "/projects/webshop/envs/prod/secrets/SET", { value: "${SET}", kind: "reference" }],
    archive: secrets(secret("KEY", { kind: "reference", value: "${KEY}" })),
    refused: /webshop\/prod\/KEY would refer to itself/
  },
  {
    ...{ call: "secrets.set", error: "REFERENCE_REFUSED", rule: "references to what exists" },
    ask: ["PUT", "/projects/webshop/envs/prod/secrets/KEY", { value: "${NONE}", kind: "reference" }],
    archive: secrets(secret("KEY", { kind: "reference", value: "${NONE}" })),
    noted: /webshop\/prod\/NONE, to which webshop\/prod\/KEY refers/
  },
  {
    ...{ call: "secrets.set", error: "PATTERN_BROKEN", rule: "values of a strict project match" },
    ask: ["PUT", "/projects/strict/envs/prod/secrets/PORT", { value: "x" }],
    archive: () => ({
      structure: { ...base, projects: [{ ...base.projects[0], strict: true }] },
      declared: [{ key: "PORT", pattern: "[0-9]+" }],
      secrets: [secret("PORT", { value: "x" })]
    }),
    taken: "the value may be older than the pattern: a restored one is not refused either"
  },
  {
    ...{ call: "secrets.set", error: "LIMIT_EXCEEDED", rule: "8 MiB of values" },
    archive: secrets(...many(129, (one) => secret(`KEY_${one}`, { value: "x".repeat(65_536) }))),
    refused: /the values of an environment have at most 8 MiB together/
  },
  {
    ...{
      call: "environments.writeBundle",
      error: "VALIDATION_ERROR",
      rule: "no controls of the direction of text in notes"
    },
    ask: ["PATCH", "/projects/webshop/envs/prod/bundle", { set: { A: "x" }, note: "\u202ex" }],
    archive: secrets(secret("KEY", { revision: 1, note: "\u202ex" })),
    taken: "version 0.3.0 took them, and what is stored is still read"
  },
  {
    ...{ call: "dues.update", error: "VALIDATION_ERROR", rule: "an age of 3,650 days" },
    ask: ["PATCH", "/projects/webshop/envs/prod/secrets/SET", { rotate_every_days: 3_651 }],
    archive: secrets(secret("KEY", {}, { rotate_every_days: 3_651 })),
    refused: /rotate_every_days: must be a whole number of days from 1 to 3,650/
  },
  {
    ...{ call: "useRules.create", error: "VALIDATION_ERROR", rule: "hosts by name" },
    ask: ["POST", "/projects/webshop/envs/prod/secrets/SET/use-rules", useRule({ hosts: ["10.0.0.1"] })],
    archive: useRules(useRule({ hosts: ["10.0.0.1"] })),
    refused: /use_rules\.0\.hosts\.0: must be host names/
  },
  {
    ...{ call: "useRules.create", error: "VALIDATION_ERROR", rule: "an end in the future" },
    ask: ["POST", "/projects/webshop/envs/prod/secrets/SET/use-rules", useRule({ expires_at: at })],
    archive: useRules(useRule({ expires_at: at })),
    taken: since
  },
  {
    ...{ call: "useRules.create", error: "VALIDATION_ERROR", rule: "accounts and members that exist" },
    ask: ["POST", "/projects/webshop/envs/prod/secrets/SET/use-rules", useRule({ accounts: ["x@y.com"] })],
    archive: useRules(useRule({ accounts: ["ci", "x@y.com", "grace@example.com"] })),
    noted: /x@y\.com in a use rule: the organization has no service account or member of the name/
  },
  {
    ...{ call: "useRules.create", error: "LIMIT_EXCEEDED", rule: "20 rules of a secret" },
    archive: useRules(...many(21, () => useRule())),
    refused: /a secret has at most 20 use rules/
  },
  {
    ...{ call: "useRules.create", error: "LIMIT_EXCEEDED", rule: "500 rules of an environment" },
    archive: secrets(...many(26, (one) => secret(`KEY_${one}`, {}, { use_rules: many(20, () => useRule()) }))),
    refused: /an environment has at most 500 use rules/
  }
]
