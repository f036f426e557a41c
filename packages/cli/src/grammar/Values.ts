import * as Either from "effect/Either"
import { type ArgumentSpec, isArgument, type OptionSpec, type Specs, syntaxOf } from "./Specs.js"
import { shareOut, wantedOf, type Words } from "./Words.js"

/** The values of a command's options and arguments. */
export type Values<S extends Specs> = {
  readonly [Name in keyof S]: Either.Either.Right<ReturnType<S[Name]["decode"]>>
}

/** The specs of these values. */
export type SpecsOf<A> = { readonly [Name in keyof A]: OptionSpec<A[Name]> | ArgumentSpec<A[Name]> }

/** The values of a command line that `readWords` and `countProblem` allow. Fails with a sentence. */
export function valuesOf<S extends Specs>(specs: S, words: Words): Either.Either<Values<S>, string>
export function valuesOf<A extends object>(specs: SpecsOf<A>, words: Words): Either.Either<A, string>
export function valuesOf(specs: Specs, words: Words): Either.Either<object, string> {
  const wanted = wantedOf(syntaxOf(Object.values(specs)).arguments, words.options)
  const shares = shareOut(wanted, words.arguments)
  const sharesOf = new Map(wanted.map((data, index) => [data, shares[index] ?? []]))
  return Either.all(
    Object.fromEntries(
      Object.entries(specs).map(([name, spec]) => [
        name,
        isArgument(spec)
          ? spec.decode(sharesOf.get(spec.data) ?? [], words.options)
          : spec.decode(words.options.get(spec.data.name), words.options)
      ])
    )
  )
}
