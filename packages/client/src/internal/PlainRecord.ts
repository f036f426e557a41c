/** Decodes responses without the contract's schemas, which load too slowly for programs that start often. */
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Redacted from "effect/Redacted"
import { isSecretValue } from "@coffer/domain/secrets/SecretValueForm"
import { isArray } from "./ParseJson.js"

export type Decode<A> = (found: unknown) => Option.Option<A>

export const text: Decode<string> = Option.liftPredicate(Predicate.isString)

export const matching =
  <A extends string>(is: (text: string) => text is A): Decode<A> =>
  (found) =>
    Option.filter(text(found), is)

const isCount = (found: unknown): found is number =>
  typeof found === "number" && Number.isInteger(found) && found >= 0 && found <= 2_147_483_647

export const count: Decode<number> = Option.liftPredicate(isCount)

export const value: Decode<Redacted.Redacted> = (found) =>
  Option.map(Option.filter(text(found), isSecretValue), (plain) => Redacted.make(plain))

export const list =
  <A>(item: Decode<A>): Decode<ReadonlyArray<A>> =>
  (found) =>
    isArray(found) ? Option.all(found.map(item)) : Option.none()

/** Null, or what `decode` takes. */
export const orNull =
  <A>(decode: Decode<A>): Decode<A | null> =>
  (found) =>
    found === null ? Option.some(null) : decode(found)

/** A field that is there. */
export const field = <A>(found: unknown, name: string, decode: Decode<A>): Option.Option<A> =>
  Predicate.hasProperty(found, name) ? decode(found[name]) : Option.none()

/** A field that may be absent. */
export const optional = <A>(found: unknown, name: string, decode: Decode<A>): Option.Option<A | undefined> =>
  Predicate.hasProperty(found, name) ? decode(found[name]) : Option.some(undefined)
