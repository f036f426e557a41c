import type { ReadOptions } from "../../../src/formats/tools/Tool.js"
import type { ToolName } from "../../../src/formats/tools/ToolNames.js"

/** A document as a tool prints it, with invented values, and what it holds. */
export interface Sample {
  readonly name: string
  readonly tool: ToolName
  readonly text: string
  readonly options?: Partial<ReadOptions>
  /** By place, `project/env` in the tool's names; `!` in front of a key that cannot be stored, and `-` of one that is left. */
  readonly holds: Readonly<Record<string, Readonly<Record<string, string>>>>
}

const json = (value: unknown) => JSON.stringify(value, null, 2)

const base64 = (bytes: string) => Buffer.from(bytes, "latin1").toString("base64")

export const vaultV2 = (data: unknown) => ({
  request_id: "e3b1f7a2-5d0c-0b5e-9e6e-4f3a0d2b9c11",
  lease_id: "",
  lease_duration: 0,
  renewable: false,
  data: {
    data,
    metadata: {
      created_time: "2026-03-01T10:00:00.000000000Z",
      custom_metadata: null,
      deletion_time: "",
      destroyed: false,
      version: 3
    }
  },
  warnings: null
})

export const vaultV1 = (data: unknown) => ({
  request_id: "7f0d2c54-6a0e-55c9-3f0c-8d2f5d1c2b90",
  lease_id: "",
  lease_duration: 2764800,
  renewable: false,
  data,
  warnings: null
})

const awsSecret = (Name: string, more: object) => ({
  ARN: `arn:aws:secretsmanager:eu-west-1:123456789012:secret:${Name}-a1B2c3`,
  Name,
  VersionId: "a1b2c3d4-5678-90ab-cdef-EXAMPLE11111",
  ...more,
  VersionStages: ["AWSCURRENT"],
  CreatedDate: "2026-03-01T10:00:00.000000+00:00"
})

const infisicalSecret = (key: string, value: string, secretPath = "/") => ({
  key,
  workspace: "63f1a0",
  value,
  type: "shared",
  _id: "65f1",
  secretPath,
  tags: [],
  comment: "",
  Etag: "",
  skipMultilineEncoding: false
})

export const onePasswordItem = {
  id: "abcdefghijklmnopqrstuvwxyz",
  title: "webshop",
  version: 2,
  vault: { id: "vault", name: "Engineering" },
  category: "LOGIN",
  sections: [{ id: "add more" }, { id: "s1", label: "Database" }],
  fields: [
    {
      id: "username",
      type: "STRING",
      purpose: "USERNAME",
      label: "username",
      value: "app",
      reference: "op://Engineering/webshop/username"
    },
    { id: "password", type: "CONCEALED", purpose: "PASSWORD", label: "password", value: "pw-1" },
    { id: "notesPlain", type: "STRING", purpose: "NOTES", label: "notesPlain" },
    {
      id: "f1",
      section: { id: "s1", label: "Database" },
      type: "CONCEALED",
      label: "DATABASE_URL",
      value: "postgres://app@db/shop"
    },
    { id: "f2", section: { id: "s1", label: "Database" }, type: "STRING", label: "pool size", value: "5" },
    {
      id: "f3",
      type: "CONCEALED",
      label: "hidden",
      value: "[use 'op item get abcdefghijklmnopqrstuvwxyz --reveal' to reveal]"
    }
  ]
}

const secretManifest = `apiVersion: v1
data:
  API_KEY: ${base64("k-8c1f")}
  CERT: ${base64("\xff\xfe\x00binary")}
  EMPTY: ""
kind: Secret
metadata:
  creationTimestamp: "2026-03-01T10:00:00Z"
  name: webshop
  namespace: shop
  resourceVersion: "4711"
  uid: 0a1b2c3d-0000-0000-0000-000000000000
type: Opaque
`

export const samples: ReadonlyArray<Sample> = [
  {
    name: "doppler secrets download --format json",
    tool: "doppler",
    text: json({
      API_KEY: "k-8c1f",
      DOPPLER_CONFIG: "prd",
      DOPPLER_ENVIRONMENT: "prd",
      DOPPLER_PROJECT: "webshop",
      PORT: "8080"
    }),
    holds: {
      "webshop/prd": {
        API_KEY: "k-8c1f",
        "-DOPPLER_CONFIG": "",
        "-DOPPLER_ENVIRONMENT": "",
        "-DOPPLER_PROJECT": "",
        PORT: "8080"
      }
    }
  },
  {
    name: "doppler secrets --json",
    tool: "doppler",
    text: json({
      API_KEY: { computed: "k-8c1f", note: "", raw: "k-8c1f" },
      DOPPLER_CONFIG: { computed: "prd", note: "", raw: "prd" },
      DOPPLER_PROJECT: { computed: "webshop", note: "", raw: "webshop" },
      MASKED: { computed: null, note: "", raw: null },
      URL: { computed: "https://k-8c1f@shop", note: "", raw: "https://${API_KEY}@shop" },
      SHARED: { computed: "s-1", note: "", raw: "${other.prd.TOKEN}" }
    }),
    holds: {
      "webshop/prd": {
        API_KEY: "k-8c1f",
        "-DOPPLER_CONFIG": "",
        "-DOPPLER_PROJECT": "",
        "!MASKED": "",
        URL: "reference https://${API_KEY}@shop",
        SHARED: "s-1"
      }
    }
  },
  {
    name: "infisical export --format=json",
    tool: "infisical",
    text: JSON.stringify([
      infisicalSecret("API_KEY", "k-8c1f"),
      infisicalSecret("DB_URL", "postgres://${DB_USER}@db"),
      infisicalSecret("DB_USER", "app", "/db"),
      infisicalSecret("ELSEWHERE", "${prod.TOKEN}")
    ]),
    holds: {
      "": {
        API_KEY: "k-8c1f",
        DB_URL: "reference postgres://${DB_USER}@db",
        DB_USER: "app",
        ELSEWHERE: "${prod.TOKEN}"
      }
    }
  },
  {
    name: "infisical export --format=dotenv",
    tool: "infisical",
    text: "API_KEY='k-8c1f'\nMULTI='a\nb'\nURL='https://${API_KEY}@shop'\n",
    holds: { "": { API_KEY: "k-8c1f", MULTI: "a\nb", URL: "reference https://${API_KEY}@shop" } }
  },
  {
    name: "infisical export --format=yaml",
    tool: "infisical",
    text: 'API_KEY: k-8c1f\nPORT: "8080"\nKEY: |\n  line 1\n  line 2\n',
    holds: { "": { API_KEY: "k-8c1f", PORT: "8080", KEY: "line 1\nline 2\n" } }
  },
  {
    name: "vault kv get -format=json, version 2",
    tool: "vault",
    text: json(vaultV2({ API_KEY: "k-8c1f", attempts: 3, db: { user: "app", ports: [1, 2] }, on: true })).replace(
      "2\n",
      "2.0\n"
    ),
    holds: { "": { API_KEY: "k-8c1f", attempts: "3", db: '{"user":"app","ports":[1,2.0]}', on: "true" } }
  },
  {
    name: "vault kv get -format=json, split",
    tool: "vault",
    text: json(vaultV2({ db: { user: "app" }, none: null })),
    options: { split: true },
    holds: { "": { db__user: "app", none: "null" } }
  },
  {
    name: "vault kv get -format=json, version 1",
    tool: "vault",
    text: json(vaultV1({ API_KEY: "k-8c1f", "bad key": "x" })),
    holds: { "": { API_KEY: "k-8c1f", "!bad key": "" } }
  },
  {
    name: "a whole mount of Vault, by path",
    tool: "vault",
    text: json({
      "webshop/prod": vaultV2({ API_KEY: "k-8c1f" }),
      "webshop/dev": vaultV2({ API_KEY: "k-dev" }),
      "billing/prod/db": vaultV2({ PASSWORD: "pw-1" }),
      "billing/gone": { ...vaultV2(null) }
    }),
    options: { separator: "_" },
    holds: {
      "webshop/prod": { API_KEY: "k-8c1f" },
      "webshop/dev": { API_KEY: "k-dev" },
      "billing/prod": { db_PASSWORD: "pw-1" },
      "billing/gone": {}
    }
  },
  {
    name: "aws secretsmanager get-secret-value",
    tool: "aws-sm",
    text: json(awsSecret("API_KEY", { SecretString: "k-8c1f" })),
    holds: { "": { API_KEY: "k-8c1f" } }
  },
  {
    name: "aws secretsmanager batch-get-secret-value, split",
    tool: "aws-sm",
    text: json({
      SecretValues: [
        awsSecret("prod/webshop", { SecretString: '{"API_KEY": "k-8c1f", "port": 5432, "db": {"user": "app"}}' }),
        awsSecret("prod/plain", { SecretString: "not json" }),
        awsSecret("CERT", { SecretBinary: base64("\xff\xfe") })
      ],
      Errors: [{ SecretId: "prod/none", ErrorCode: "ResourceNotFoundException", Message: "none" }]
    }),
    options: { split: true },
    holds: {
      "": { API_KEY: "k-8c1f", port: "5432", db__user: "app", "!prod/plain": "", "!CERT": "", "!prod/none": "" }
    }
  },
  {
    name: "op item get --format json",
    tool: "1password",
    text: json(onePasswordItem),
    holds: {
      webshop: {
        username: "app",
        password: "pw-1",
        DATABASE_URL: "postgres://app@db/shop",
        "!pool size": "",
        "!hidden": ""
      }
    }
  },
  {
    name: "sops --decrypt of YAML",
    tool: "sops",
    text: "# the shop\ndatabase:\n  url: postgres://app@db/shop\n  pool: 5\nhosts:\n  - a\n  - b\ndebug: false\nnone: null\n",
    holds: {
      "": {
        database__url: "postgres://app@db/shop",
        database__pool: "5",
        hosts__0: "a",
        hosts__1: "b",
        debug: "false",
        none: "null"
      }
    }
  },
  {
    name: "sops --decrypt of JSON, with a separator",
    tool: "sops",
    text: '{\n\t"db": {\n\t\t"port": 5432,\n\t\t"ratio": 1.50\n\t}\n}',
    options: { separator: "." },
    holds: { "": { "db.port": "5432", "db.ratio": "1.50" } }
  },
  {
    name: "dotenvx get",
    tool: "dotenvx",
    text: '{"DOTENV_PUBLIC_KEY_PRODUCTION":"03a5","API_KEY":"k-8c1f","PORT":"8080"}',
    holds: { "": { "-DOTENV_PUBLIC_KEY_PRODUCTION": "", API_KEY: "k-8c1f", PORT: "8080" } }
  },
  {
    name: "kubectl get secret -o yaml",
    tool: "kubernetes",
    text: secretManifest,
    holds: { shop: { API_KEY: "k-8c1f", "!CERT": "", EMPTY: "" } }
  },
  {
    name: "kubectl get secret -o json, a list",
    tool: "kubernetes",
    text: json({
      apiVersion: "v1",
      kind: "List",
      items: [
        {
          apiVersion: "v1",
          kind: "Secret",
          metadata: { name: "a", namespace: "shop" },
          data: { A: base64("1") },
          type: "Opaque"
        },
        {
          apiVersion: "v1",
          kind: "Secret",
          metadata: { name: "b", namespace: "shop" },
          stringData: { B: "2", C: "3" },
          data: { B: base64("old") }
        },
        {
          apiVersion: "v1",
          kind: "Secret",
          metadata: { name: "t", namespace: "bills" },
          data: { token: base64("t") },
          type: "kubernetes.io/service-account-token"
        }
      ]
    }),
    options: { base64: true },
    holds: { shop: { A: "1", B: "2", C: "3" }, bills: { "-token": "" } }
  },
  {
    name: "phase secrets export --format json",
    tool: "phase",
    text: '{\n    "API_KEY": "k-8c1f",\n    "URL": "https://${API_KEY}@shop",\n    "OTHER": "${billing::prod.TOKEN}"\n}\n',
    holds: { "": { API_KEY: "k-8c1f", URL: "reference https://${API_KEY}@shop", OTHER: "${billing::prod.TOKEN}" } }
  },
  {
    name: "phase secrets export --format dotenv",
    tool: "phase",
    text: 'API_KEY="k-8c1f"\nPORT="8080"\n',
    holds: { "": { API_KEY: "k-8c1f", PORT: "8080" } }
  }
]

/** A document that cannot be read: the value `canary` must be in no message. */
export interface BadSample {
  readonly tool: ToolName
  readonly text: string
  readonly says: RegExp
}

const canary = "hunter2-canary"

export const badSamples: Readonly<Record<string, BadSample>> = {
  "of another tool": {
    tool: "doppler",
    text: secretManifest.replace("type: Opaque", `type: ${canary}`),
    says: /line 1: is what kubectl get secret NAME -o yaml prints, and not of doppler: use coffer import kubernetes/
  },
  "of another tool, flat": {
    tool: "phase",
    text: json({ DOPPLER_PROJECT: "webshop", DOPPLER_CONFIG: "prd", A: canary }),
    says: /use coffer import doppler/
  },
  mixed: {
    tool: "vault",
    text: json([vaultV2({ A: canary }), awsSecret("A", { SecretString: canary })]),
    says: /line 21: is what aws secretsmanager .* use coffer import aws-sm/
  },
  "cut off": {
    tool: "doppler",
    text: `{\n  "A": "${canary}",\n  "B": "x"`,
    says: /line 3: the document ends here: it was cut off/
  },
  "cut off in a value": {
    tool: "infisical",
    text: `[{"key":"A","value":"${canary}`,
    says: /line 1: is a text without an end/
  },
  "not JSON": { tool: "phase", text: `{"A": ${canary}}`, says: /line 1: is not valid JSON: expected a value/ },
  "not YAML": { tool: "sops", text: `a: 1\nb: "${canary}\n`, says: /line 3: is not valid YAML: quotes/ },
  "encrypted by sops": {
    tool: "sops",
    text: `a: ENC[AES256_GCM,data:${canary},iv:x,tag:y,type:str]\nsops:\n  mac: ENC[AES256_GCM,data:x]\n`,
    says: /line 1: is a value that sops encrypted; import what it decrypts: sops --decrypt FILE \| coffer import sops -/
  },
  "encrypted by dotenvx": {
    tool: "dotenvx",
    text: `DOTENV_PUBLIC_KEY="03a5"\nA="encrypted:BDqDBibm4wsYqMpCjTQ6BsDHmMadg9K3dAt"\n`,
    says: /line 2: is a value that dotenvx encrypted; import what it decrypts: dotenvx get \| coffer import dotenvx -/
  },
  "a list of names": { tool: "vault", text: `["${canary}/"]`, says: /holds only names, as vault kv list prints them/ },
  "a sealed secret": {
    tool: "kubernetes",
    text: `apiVersion: bitnami.com/v1alpha1\nkind: SealedSecret\nspec:\n  encryptedData:\n    A: ${canary}\n`,
    says: /line 1: is a SealedSecret, not a Secret and holds encrypted values/
  },
  "a deep document": { tool: "sops", text: "[".repeat(5_000), says: /nested deeper than 64 levels/ },
  "a deep YAML document": {
    tool: "sops",
    text: `a: ${"- ".repeat(9_000)}x`,
    says: /nested deeper than 64 levels|not valid YAML/
  },
  empty: { tool: "sops", text: "\n", says: /line 1: is empty/ },
  "an alias": { tool: "sops", text: `a: &x ${canary}\nb: *x\n`, says: /line 2: is an alias/ },
  "no document": { tool: "1password", text: canary, says: /is not what op item get .* prints/ },
  "a nested value": {
    tool: "phase",
    text: `{"A": {"B": "${canary}"}}`,
    says: /is not what phase secrets export .* prints/
  }
}

export const hidden = canary
