import * as Schema from "effect/Schema"
import { withMessage } from "../base/Message.js"
import { Count, field } from "../base/Schemas.js"

/** The letters of a user code: no vowels, so that no code is a word (RFC 8628, section 6.1). */
export const userCodeLetters = "BCDFGHJKLMNPQRSTVWXZ"
export const userCodeLength = 8

/** Shows a user code as `XXXX-XXXX`. */
export const showUserCode = (code: string): string => `${code.slice(0, 4)}-${code.slice(4)}`

const userCodeMessage = "a code has 8 letters, such as WDJB-MJHT"

/** A user code without the hyphen. */
export const UserCode = Schema.String.pipe(
  Schema.pattern(new RegExp(`^[${userCodeLetters}]{${userCodeLength}}$`), withMessage(userCodeMessage)),
  Schema.brand("UserCode")
)
export type UserCode = typeof UserCode.Type

/** A user code as a person types it: in any case, with or without the hyphen. */
export const TypedUserCode = Schema.transform(Schema.String.annotations(withMessage(userCodeMessage)), UserCode, {
  decode: (text) => text.slice(0, 100).replace(/[\s-]/g, "").toUpperCase(),
  encode: showUserCode
})

const machineMessage =
  "a machine's name has 1 to 64 characters: letters, digits, spaces, dots, underscores and hyphens, with a letter or digit first"

/** The name of the machine that a program runs on, by the program's own claim. */
export const MachineName = Schema.String.pipe(
  Schema.pattern(/^[A-Za-z0-9][A-Za-z0-9 ._-]{0,63}$/, {
    ...withMessage(machineMessage),
    identifier: "MachineName",
    description: "the machine's name: 1 to 64 letters, digits, spaces, dots, underscores and hyphens",
    examples: ["adas-laptop"]
  }),
  Schema.brand("MachineName")
)
export type MachineName = typeof MachineName.Type

const secretText = (identifier: string, message: string, pattern: RegExp, description: string, example: string) =>
  Schema.Redacted(
    Schema.String.pipe(
      Schema.pattern(pattern, { ...withMessage(message), identifier, description, examples: [example] })
    )
  )

/** 256 random bits in base64url. */
const secretPattern = /^[A-Za-z0-9_-]{43}$/

export const DeviceCode = secretText(
  "DeviceCode",
  "a device code has 43 characters",
  secretPattern,
  "the program's secret of this login",
  "GmRhmhcxhwAzkoEqiMEgDnyEysNkuNhszIySk9eS-00"
)

export const LoopbackCode = secretText(
  "LoopbackCode",
  "a code has 43 characters",
  secretPattern,
  "the code that the browser brought to the program; valid for one minute, once",
  "SplxlOBeZQQYbYS6WxSbIAGmRhmhcxhwAzkoEqiM-00"
)

export const CodeVerifier = secretText(
  "CodeVerifier",
  "a verifier has 43 to 128 characters: letters, digits, dots, underscores, tildes and hyphens",
  /^[A-Za-z0-9._~-]{43,128}$/,
  "the text whose SHA-256 the program sent as `code_challenge` (RFC 7636)",
  "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
)

/** A code challenge by S256, the only method. */
export const CodeChallenge = Schema.String.pipe(Schema.pattern(secretPattern), Schema.brand("CodeChallenge"))
export type CodeChallenge = typeof CodeChallenge.Type

/** The `state` of a program, which is returned to it unchanged. */
export const ClientState = Schema.String.pipe(Schema.pattern(/^[A-Za-z0-9._~-]{1,128}$/), Schema.brand("ClientState"))
export type ClientState = typeof ClientState.Type

/** Where the browser takes a code to: the program's own listener on the loopback interface (RFC 8252, section 7.3). */
export const LoopbackUri = Schema.String.pipe(
  Schema.pattern(/^http:\/\/(127\.0\.0\.1|\[::1\]):[1-9][0-9]{0,4}\/[A-Za-z0-9/_-]{0,100}$/),
  Schema.filter((text) => URL.canParse(text)),
  Schema.brand("LoopbackUri")
)
export type LoopbackUri = typeof LoopbackUri.Type

/** A login that has begun on a machine without a browser (RFC 8628, section 3.2). */
export const DeviceLogin = Schema.Struct({
  device_code: field(DeviceCode, "the program's secret of this login"),
  user_code: field(Schema.String, "the code that the person enters", "WDJB-MJHT"),
  verification_uri: field(Schema.String, "where the person enters it", "https://coffer.example.com/device"),
  verification_uri_complete: field(
    Schema.String,
    "the same with the code",
    "https://coffer.example.com/device?code=WDJB-MJHT"
  ),
  expires_in: field(Count, "the seconds that both codes are valid", 600),
  interval: field(Count, "the least seconds between two polls", 5)
}).annotations({ identifier: "DeviceLogin", description: "a login that a person approves in a browser" })
