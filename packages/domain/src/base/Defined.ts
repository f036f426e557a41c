/** The fields that are not undefined. A field of a request may be absent, but not undefined. */
export function defined<T extends object>(fields: T): { readonly [K in keyof T]?: Exclude<T[K], undefined> }
export function defined(fields: object): object {
  return Object.fromEntries(Object.entries(fields).filter(([, field]) => field !== undefined))
}
