import * as fc from "fast-check"
import { docker } from "@coffer/domain/formats/Docker"
import { env } from "@coffer/domain/formats/Env"
import type { Format, Pair } from "@coffer/domain/formats/Format"
import type { FormatName } from "@coffer/domain/formats/FormatNames"
import { json } from "@coffer/domain/formats/Json"
import { shell } from "@coffer/domain/formats/Shell"
import { yaml } from "@coffer/domain/formats/Yaml"

export const formats: Readonly<Record<FormatName, Format>> = { env, shell, docker, json, yaml }

/** Texts that some reader somewhere takes for something else. */
export const tricky = [
  "",
  " ",
  "yes",
  "no",
  "012",
  "null",
  "~",
  "1e3",
  "0x1f",
  "1_000",
  "12:30:45",
  "2001-01-01",
  ".inf",
  "true",
  "<<",
  "=",
  "a=b",
  "#",
  "a#b",
  "a #b",
  "# all",
  "- item",
  "? key",
  "key: value",
  "{a: b}",
  "[1]",
  "&anchor",
  "*alias",
  "!tag",
  "%directive",
  "---",
  "...",
  "|",
  ">",
  "@",
  "`date`",
  "$(date)",
  "$HOME",
  "${HOME:-x}",
  "!history",
  "'",
  '"',
  "`",
  "''",
  '""',
  "it's",
  'say "x"',
  "'quoted'",
  '"quoted"',
  "`quoted`",
  "\\",
  "a\\",
  "a\\\\",
  "\\n",
  "\\r\\n",
  "\\'",
  '\\"',
  "a\\'b",
  "\n",
  "\r",
  "\r\n",
  "a\nb",
  "a\r\nb\r\n",
  "a\rb",
  "a\\\nb",
  "a\\\r",
  "\n\n",
  " lead",
  "trail ",
  "\ttab\t",
  "a\nKEY=value",
  "a\n'b'\nc",
  'a\n"b"\nc',
  "\ufeff",
  "\ufeffbom",
  "\u0085",
  "\u00a0",
  "\u2028",
  "a\u2028b",
  "\u2029",
  'x\u2028"y"',
  "\u200b",
  "\ufffe",
  "\uffff",
  "ü Á ß \u0301",
  "日本語",
  "🔐",
  "\u0001\u0002\u007f\u0080\u009f",
  "\u001b[31m",
  "\0",
  "a\0b",
  "x".repeat(5_000),
  "%s %d %n",
  "a;b|c&d>e<f",
  "*?[a-z]{1,2}~",
  "-----BEGIN KEY-----\nMIIE\n-----END KEY-----\n"
]

const piece = fc.oneof(
  fc.constantFrom(...tricky, "\\", "'", '"', "`", "\n", "\r", "#", "$", " "),
  fc.string({ unit: "binary", maxLength: 6 }),
  fc.string({ maxLength: 6 })
)

export const values = fc.oneof(
  fc.constantFrom(...tricky),
  fc.array(piece, { maxLength: 6 }).map((pieces) => pieces.join(""))
)

export const keys = fc.oneof(
  fc.stringMatching(/^[A-Za-z_][A-Za-z0-9_.-]{0,20}$/),
  fc.stringMatching(/^[A-Z_][A-Z0-9_]{0,20}$/),
  fc.constantFrom(
    "yes",
    "no",
    "null",
    "true",
    "Off",
    "y",
    "__proto__",
    "constructor",
    "toString",
    "export",
    "a.b",
    "a-b"
  )
)

export const pairs: fc.Arbitrary<ReadonlyArray<Pair>> = fc.uniqueArray(fc.record({ key: keys, value: values }), {
  selector: ({ key }) => key,
  maxLength: 12
})

/** Returns the pairs that the format takes. */
export const carried = (format: Format, all: ReadonlyArray<Pair>) =>
  all.filter((pair) => format.refusal(pair) === undefined)
