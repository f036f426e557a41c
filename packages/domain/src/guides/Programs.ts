import * as Struct from "effect/Struct"
import { audienceOf } from "../directory/Claims.js"
import { fillPieces, type Piece } from "./Fill.js"
import guides from "./programs.json" with { type: "json" }

/**
 * Programs that take their secrets from Coffer as they are, with the lines that set them up: those of docs/connect/works-with.md, of
 * `coffer service-account create --program`, and of the console.
 */

const { grant, programs } = guides

/** The names that `--program` takes. */
export type ProgramName = keyof typeof programs

export const programNames = Struct.keys(programs)

/** Pods that sign in to an account. */
interface Pods {
  readonly namespace: string
  readonly serviceAccount: string
  readonly audience: string
}

export interface ProgramUse {
  readonly server: string
  readonly org: string
  readonly account: string
  readonly project: string
  readonly env: string
  /** Whether the account has a key. */
  readonly hasKey: boolean
  /** The pods that sign in already. Without them, the lines let those of an example sign in. */
  readonly trusted?: Pods
}

/** Returns the name that the program gives itself. */
export const titleOf = (name: ProgramName): string => programs[name].title

/** Returns the problem with how the account signs in, in words after the program's name. */
export const signInProblem = (name: ProgramName, hasKey: boolean): string | undefined => {
  const { signsIn } = programs[name]
  if (signsIn === "key" && !hasKey) return "needs a key"
  return signsIn === "pod" && hasKey ? "signs in with the token of its pod, and needs no key" : undefined
}

/** Returns the program's requirement of the server; undefined if it has none. */
export const serverNeeds = (name: ProgramName): string | undefined =>
  programs[name].speaksVault ? "The server needs SERVICE_VAULT_API=1." : undefined

const textsOf = ({ hasKey, trusted, ...use }: ProgramUse) => {
  const { account, org, server } = use
  const when = (isTrue: boolean) => (isTrue ? "" : undefined)
  return {
    ...use,
    ...(trusted ?? { namespace: "shop", serviceAccount: "webshop", audience: audienceOf(server, org, account) }),
    role: `${org}/${account}`,
    // At the start of lines that belong to one way to sign in.
    ifKey: when(hasKey),
    ifPod: when(!hasKey),
    ifUntrusted: when(!hasKey && trusted === undefined)
  }
}

/** Gives a new account what the program reads. */
export const grantPieces = (use: ProgramUse): ReadonlyArray<Piece> => fillPieces(grant, textsOf(use))

/** The lines for a program. None contains the key. */
export const programPieces = (name: ProgramName, use: ProgramUse): ReadonlyArray<Piece> =>
  fillPieces(programs[name].pieces, textsOf(use))
