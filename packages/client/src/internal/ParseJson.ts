import * as Option from "effect/Option"

/** Parses JSON without a schema. None if a text is not JSON. */
export const parseJson = Option.liftThrowable((text: string): unknown => JSON.parse(text))

/** `Array.isArray` without its `any`. */
export const isArray = (value: unknown): value is ReadonlyArray<unknown> => Array.isArray(value)
