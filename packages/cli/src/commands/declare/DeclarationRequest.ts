import { basename } from "node:path"
import type { Read } from "./ExampleFile.js"

/**
 * Names of files that are meant to be seen. The values and comments of any other file may be secrets, and are not sent: also those
 * of a `.env` in a folder of examples.
 */
const isMeantToBeSeen = (file: string): boolean => /example|sample|template|schema|dist(?![a-z])/i.test(basename(file))

/** The forms of credentials that scanners find, whatever file they are in. */
const credentials = [
  /\b(?:AKIA|ASIA)[A-Z0-9]{16}\b/,
  /\bAIza[\w-]{35}/,
  /\beyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]{20,}/,
  /\bgh[oprsu]_\w{36,}/,
  /\bgithub_pat_\w{50,}/,
  /\bgl(?:pat|dt|rt|ptt)-[\w-]{20,}/,
  /\bnpm_\w{36}\b/,
  /\b[rs]k_live_\w{16,}/,
  /\bsk-(?:ant-|proj-|svcacct-)?[\w-]{32,}/,
  /\bSG\.[\w-]{16,}\.[\w-]{32,}/,
  /\bsvc_s[at]_\w{40,}/,
  /\bxox[abeoprs]-[\w-]{20,}/,
  /hooks\.slack\.com\/services\/T\w{6,}\/B\w{6,}\/\w{16,}/,
  /-----BEGIN [A-Z ]*PRIVATE KEY-----[\sA-Za-z0-9+/=]{100,}/
]

const placeholder = /example|placeholder|replace|change.?me|your|dummy|fake|(.)\1{5}|12345678/i

/** Whether a text has a credential in it. The placeholders that stand for one are none. */
export const looksReal = (text: string): boolean =>
  credentials.some((form) => {
    const found = form.exec(text)?.[0]
    return found !== undefined && !placeholder.test(found)
  })

/** The data of a file that is sent, and the data that is left out. */
export interface DeclarationRequest {
  readonly keys: ReadonlyArray<Read>
  /** Whether values or comments are left out because the file may hold secrets. */
  readonly isPrivate: boolean
  /** The keys whose value or comment looks like a credential. */
  readonly real: ReadonlyArray<string>
}

const withoutTexts = ({ description: _description, example: _example, ...read }: Read): Read => read

/** Leaves out what may be a secret. */
export const declarationRequest = (file: string, keys: ReadonlyArray<Read>): DeclarationRequest => {
  const texts = ({ description = "", example = "" }: Read): string => `${description}\n${example}`
  if (!isMeantToBeSeen(file)) {
    return { keys: keys.map(withoutTexts), isPrivate: keys.some((read) => texts(read) !== "\n"), real: [] }
  }
  const real = keys.filter((read) => looksReal(texts(read))).map(({ key }) => key)
  const left = new Set(real)
  return { keys: keys.map((read) => (left.has(read.key) ? withoutTexts(read) : read)), isPrivate: false, real }
}
