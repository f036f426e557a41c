import type { RequiredIn } from "@coffer/domain/secrets/DeclaredKey"
import { EnvName, SecretKey } from "@coffer/domain/base/Names"
import { assert, describe, it } from "@effect/vitest"
import { Either } from "effect"
import * as fc from "fast-check"
import { readExample } from "../../src/commands/declare/ExampleFile.js"
import { writeExample } from "../../src/commands/declare/WriteExample.js"
import { runs } from "../../../domain/test/support/Runs.js"

const read = (text: string) => Either.getOrThrow(readExample(".env.example", text)).keys
const plain = (text: string) =>
  read(text).map(({ hasValue: _value, isCommentedOut: _out, unknown: _unknown, ...rest }) => rest)
const problems = (text: string) =>
  Either.match(readExample(".env.example", text), { onLeft: ({ lines }) => lines, onRight: () => [] })

const text = fc.string({ unit: "grapheme", minLength: 1, maxLength: 40 }).filter((one) => !/[^\P{Cc}\n\t]/u.test(one))
const lines = fc
  .array(fc.oneof(fc.constantFrom("# a", "@required", "---", "A=b", "# A=b", "", "  x ", "said: 'x' # y"), text), {
    minLength: 1,
    maxLength: 4
  })
  .map((parts) => parts.join("\n"))
  .filter((one) => one !== "")
const requiredIn: fc.Arbitrary<RequiredIn> = fc.oneof(
  fc.constant("*" as const),
  fc.uniqueArray(fc.constantFrom("dev", "prod", "qa-1")).map((names) => names.sort().map((name) => EnvName.make(name)))
)
const optional = <A>(arbitrary: fc.Arbitrary<A>) => fc.option(arbitrary, { nil: undefined })
const declaration = fc
  .record({
    key: fc.stringMatching(/^[A-Za-z_][A-Za-z0-9_.-]{0,20}$/).filter((key) => key !== "__proto__"),
    required_in: requiredIn,
    pattern: optional(text.filter((one) => !/\p{Cc}/u.test(one))),
    description: optional(lines),
    example: optional(lines),
    owner: optional(text.filter((one) => !/\p{Cc}/u.test(one)))
  })
  .map(({ key, required_in, ...rest }) => ({
    key: SecretKey.make(key),
    required_in,
    ...(Object.fromEntries(Object.entries(rest).filter(([, one]) => one !== undefined)) as Record<string, string>)
  }))

describe("what is declared", () => {
  it("reads back from the file that it is written to, whatever it is", () => {
    fc.assert(
      fc.property(fc.uniqueArray(declaration, { selector: ({ key }) => key, maxLength: 5 }), (declared) => {
        const written = writeExample(declared)
        assert.deepStrictEqual(written.left, [])
        assert.deepStrictEqual(plain(written.text), declared)
        assert.deepStrictEqual(plain(written.text.replaceAll("\n", "\r\n")), declared)
      }),
      { numRuns: runs(300) }
    )
  })
})

/** Files in the manner of well-known projects, each with what is read. */
const manners: ReadonlyArray<readonly [name: string, file: string, expected: ReadonlyArray<object>]> = [
  [
    "a web framework: no comments, blank lines between groups",
    'APP_NAME=Shop\nAPP_KEY=\n\nDB_HOST=127.0.0.1\nDB_PORT=3306\n\nMAIL_FROM="hello@example.com"\nMAIL_NAME="${APP_NAME}"\n',
    [
      { key: "APP_NAME", example: "Shop" },
      { key: "APP_KEY" },
      { key: "DB_HOST", example: "127.0.0.1" },
      { key: "DB_PORT", example: "3306" },
      { key: "MAIL_FROM", example: "hello@example.com" },
      { key: "MAIL_NAME", example: "${APP_NAME}" }
    ]
  ],
  [
    "a forum: sections between rulers, keys in comments",
    "# =====\n# Federation\n# =====\n# The name that others see.\nLOCAL_DOMAIN=example.com\n\n# Redis\n# -----\nREDIS_HOST=localhost\n#REDIS_PASSWORD=\n",
    [
      { key: "LOCAL_DOMAIN", description: "Federation\n\nThe name that others see.", example: "example.com" },
      { key: "REDIS_HOST", description: "Redis", example: "localhost" },
      { key: "REDIS_PASSWORD" }
    ]
  ],
  [
    "a database platform: remarks behind the values",
    "POSTGRES_PASSWORD=change-me # at least 16 characters\nJWT_SECRET='long enough' # signs tokens\nANON_KEY=eyJh.b-_c\n",
    [
      { key: "POSTGRES_PASSWORD", description: "at least 16 characters", example: "change-me" },
      { key: "JWT_SECRET", description: "signs tokens", example: "long enough" },
      { key: "ANON_KEY", example: "eyJh.b-_c" }
    ]
  ],
  [
    "a shell's file: exports, in double quotes",
    'export DATABASE_URL="postgres://app@localhost/shop"\nexport  PORT=3000\n',
    [
      { key: "DATABASE_URL", example: "postgres://app@localhost/shop" },
      { key: "PORT", example: "3000" }
    ]
  ],
  [
    "an analytics server: long comments, a value of several lines",
    '# The private key\n# of the signer,\n# as PEM.\nSIGNING_KEY="-----BEGIN KEY-----\n# no comment\n-----END KEY-----"\nNEXT=1\n',
    [
      {
        ...{ key: "SIGNING_KEY", description: "The private key\nof the signer,\nas PEM." },
        example: "-----BEGIN KEY-----\n# no comment\n-----END KEY-----"
      },
      { key: "NEXT", example: "1" }
    ]
  ],
  [
    "a scheduler: CRLF, spaces around the sign, no newline at the end",
    "# The address\r\nBASE_URL = http://localhost:3000\r\n\r\nEMPTY=\r\nLAST=x",
    [
      { key: "BASE_URL", description: "The address", example: "http://localhost:3000" },
      { key: "EMPTY" },
      { key: "LAST", example: "x" }
    ]
  ],
  [
    "a workflow engine: all keys in comments, with explanations",
    "# How many workers run\n# N_WORKERS=4\n#\n# Where they log: set it to a path\n# LOG_PATH=/var/log/app\n",
    [
      { key: "N_WORKERS", description: "How many workers run", example: "4" },
      { key: "LOG_PATH", description: "Where they log: set it to a path", example: "/var/log/app" }
    ]
  ],
  [
    "a chat server: a byte order mark, tabs, a key twice of which one is in a comment",
    "\ufeff# For tests use the other one\n# SMTP_URL=smtp://localhost\nSMTP_URL=smtps://mail.example.com\t# real\n",
    [
      {
        ...{ key: "SMTP_URL", example: "smtps://mail.example.com" },
        description: "For tests use the other one\nSMTP_URL=smtp://localhost\nreal"
      }
    ]
  ],
  [
    "a CMS: single quotes, backticks, a sign in the value",
    'SALT=\'a$b#c\'\nQUERY=`it\'s "x"`\nTOKEN=abc==\nCOLOR="#fff"\n',
    [
      { key: "SALT", example: "a$b#c" },
      { key: "QUERY", example: 'it\'s "x"' },
      { key: "TOKEN", example: "abc==" },
      { key: "COLOR", example: "#fff" }
    ]
  ],
  [
    "an env-spec file, as varlock reads it",
    [
      "# @defaultRequired=infer @currentEnv=$APP_ENV",
      "# ---",
      "# @type=enum(dev, prod)",
      "APP_ENV=dev",
      "",
      "# The port of the API",
      "# @type=port @example=3000",
      "API_PORT=",
      "",
      "# @required @sensitive @type=string(startsWith=sk-)",
      "KEY=exec('op read x')",
      "# @optional @docs(https://example.com) # a remark",
      "# @unheard",
      "EXTRA=",
      "# @required=forEnv(prod, staging) @type=string(matches=/^[a-z]+(?:,[a-z]+)*$/)",
      "LIST=a,b"
    ].join("\n"),
    [
      { key: "APP_ENV", example: "dev", pattern: "dev|prod" },
      { key: "API_PORT", description: "The port of the API", example: "3000", pattern: "[0-9]{1,5}" },
      { key: "KEY", required_in: "*", example: "exec('op read x')", pattern: "sk-(?s:.*)" },
      { key: "EXTRA", required_in: [] },
      { key: "LIST", required_in: ["prod", "staging"], example: "a,b", pattern: "^[a-z]+(?:,[a-z]+)*$" }
    ]
  ]
]

/** Decorators of one key in current varlock, and the result of reading them. */
const decorated: ReadonlyArray<readonly [decorators: string, expected: object]> = [
  ['@type=string(matches=regex("^sk-[a-z, ]+\\d$"))', { pattern: "^sk-[a-z, ]+\\d$" }],
  ['@type=string(matches=regex("^[a-f]+$", "gi"))', { pattern: "(?i)^[a-f]+$" }],
  ["@type=string(matches=/sk-/i)", { pattern: "(?i)(?s:.*)(?:sk-)(?s:.*)" }],
  ['@type=string(matches="^a|b$")', { pattern: "(?s:.*)(?:^a|b$)(?s:.*)" }],
  ['@type=string(matches="^(?:a|[)]|b)$")', { pattern: "a|[)]|b" }],
  ['@pattern="[0-9]+"', { pattern: "[0-9]+" }],
  ["@sensitive={enabled=forEnv(production), preventLeaks=false} @required", { required_in: "*" }],
  [
    '@internal @dynamic @static @tag(a, b) @type=array(enum(dev, prod), separator=";")',
    {
      unknown: ['@type=array(enum(dev, prod), separator=";")']
    }
  ],
  [
    "@type=string(minLength=if(eq($APP_ENV, production), 32, 8)) @optional=false",
    {
      required_in: "*",
      unknown: ["@type=string(minLength=if(eq($APP_ENV, production), 32, 8))"]
    }
  ],
  ["@type=string(matches=/(?!x)/)", { unknown: ["@type=string(matches=/(?!x)/)"] }],
  ["@type=enum(local, $MODES)", { unknown: ["@type=enum(local, $MODES)"] }],
  ["@required=eq($OTHER, foo)", { unknown: ["@required=eq($OTHER, foo)"] }],
  ['@required=forEnv("not a name")', { unknown: ['@required=forEnv("not a name")'] }],
  ["@type=ip", { unknown: ["@type=ip"] }],
  ["@type=duration", { unknown: ["@type=duration"] }],
  ["@type=string", {}],
  ["@type=string(minLength=8)", { unknown: ["@type=string(minLength=8)"] }],
  [
    "@type=string(startsWith=sk_, minLength=8)",
    { pattern: "sk_(?s:.*)", unknown: ["@type=string(startsWith=sk_, minLength=8)"] }
  ],
  ["@type=port(min=1024)", { pattern: "[0-9]{1,5}", unknown: ["@type=port(min=1024)"] }],
  ["@type=url(prependHttps=true)", { unknown: ["@type=url(prependHttps=true)"] }]
]

describe("decorators of a key", () => {
  it.each(decorated)("are understood: %s", (decorators, expected) => {
    const [found] = read(`# ${decorators}\nKEY=\n`)
    assert.deepStrictEqual<unknown>(found, {
      ...{ key: "KEY", isCommentedOut: false, hasValue: false, unknown: [] },
      ...expected
    })
  })
})

describe("an example file", () => {
  it.each(manners)("is read in the manner of %s", (_name, file, expected) => {
    assert.deepStrictEqual<unknown>(plain(file), expected)
    const declared = plain(file).map((one) => ({ required_in: "*" as const, ...one }))
    assert.deepStrictEqual(plain(writeExample(declared).text), declared, "it reads back")
  })

  it("says which keys are required by default in its head, and which decorators mean nothing", () => {
    const spec = Either.getOrThrow(readExample("", manners.at(-1)?.[1] ?? ""))
    assert.strictEqual(spec.defaultRequired, "with_value")
    assert.deepStrictEqual(
      spec.keys.flatMap(({ unknown }) => unknown),
      ["@unheard"]
    )
    const defaults = [
      ["# @defaultRequired=true\nA=1", undefined],
      ["# @defaultRequired=true\n\nA=1", "all"],
      ["# @defaultRequired=true\n# --- end\n# the first\nA=1", "all"],
      ["# @envFlag=APP_ENV\n\n# the first\nA=1", "with_value"],
      ["# @author of this file\n\n# @optional\nA=1", undefined]
    ] as const
    for (const [text, expected] of defaults) {
      assert.strictEqual(Either.getOrThrow(readExample("", text)).defaultRequired, expected, text)
    }
  })

  it("is refused with its lines, and without values", () => {
    assert.deepStrictEqual(problems("A=1\nA=2\n1B=3\nhello there\nC='open"), [
      ".env.example, line 2: A is here again; remove one",
      '.env.example, line 3: "1B" is no key of a secret',
      ".env.example, line 4: is not KEY=value",
      ".env.example, line 5: C: its quotes do not close at the end of the value"
    ])
    assert.deepStrictEqual(problems("A=1\nA=2\n1B=3"), [
      ".env.example, line 2: A is here again; remove one",
      '.env.example, line 3: "1B" is no key of a secret'
    ])
  })
})
